import type { Mutant } from './mutant.ts';

const classify = 'shared/runtime/checkpoint/classify-objects.ts';
const cutInThePast = 'shared/runtime/restore/cut-in-the-past.ts';
const gather = 'shared/runtime/checkpoint/gather-garbage-facts.ts';
const readCut = 'shared/runtime/checkpoint/read-cut.ts';
const restoreWorkflow = 'infra/restore-workflow.ts';
const takeManifest = 'shared/runtime/checkpoint/take-manifest.ts';

/** Changes that break the rules of checkpoints, files and garbage (part B), of drills and of moments of the past. */
const mutants: readonly Mutant[] = [
  {
    rule: 'C2',
    what: 'ancestors that no page has listed are not looked for',
    file: readCut,
    find: 'if (await read(parent)) open.push(found.get(id)!);',
    replace: 'if (found.size < 0 && (await read(parent))) open.push(found.get(id)!);',
    also: {
      find: 'if (parent === undefined || parent.progress.isFinished) continue;',
      replace: 'if (parent === undefined || parent !== undefined) continue;',
    },
    noticedBy: 'test/unit/runtime/checkpoint/read-cut.test.ts',
  },
  {
    rule: 'C3',
    what: 'a savepoint takes whatever cut there is',
    file: 'shared/runtime/checkpoint/savepoint-steps.ts',
    find: '    if (cut.isExact) return cut;\n',
    replace: '    if (tries >= 0) return cut;\n',
  },
  {
    rule: 'C4',
    what: 'a manifest is complete though its work was taken away',
    file: takeManifest,
    find: '    if (rest.length === there.pending.length) return undefined;\n    const isCheckpoint',
    replace:
      '    if (there.complete.some((one) => one.object === object)) return undefined;\n    const isCheckpoint',
  },
  {
    rule: 'C4',
    what: 'the base is read behind the progress heads',
    file: takeManifest,
    find: `  const registry = await ports.control.readRegistry(ports.job);
  const [base, before]`,
    replace: `  const early = await readProgressOfAll(ports, pending.generation);
  const registry = await ports.control.readRegistry(ports.job);
  const [base, before]`,
    also: {
      find: '  const read = await readProgressOfAll(ports, pending.generation);\n',
      replace: '  const read = early;\n',
    },
  },
  {
    rule: 'C5',
    what: 'a segment above the head is garbage',
    file: classify,
    find: "if (number > head) return unclear('past the head');",
    replace: "if (number > head) return garbage('past the head');",
  },
  {
    rule: 'C5',
    what: 'what an attempt has left counts as committed',
    file: classify,
    find: "if (committed !== attempt) return garbage('not on the chain');",
    replace: "if (committed === attempt) return garbage('not on the chain');",
  },
  {
    rule: 'C6',
    what: 'of the entries of a key the highest version counts',
    file: 'shared/core/merge-entries.ts',
    find: 'return a.generation - b.generation || comparePositions(a.item.position, b.item.position);',
    replace:
      'return a.item.version - b.item.version || comparePositions(a.item.position, b.item.position);',
    noticedBy: 'test/unit/core/merge-entries.test.ts',
  },
  {
    rule: 'C7',
    what: 'pending work that says nothing of itself yet keeps nothing',
    file: gather,
    find: 'else if (!isPlanned) isUnclear = true;',
    replace: 'else if (!isPlanned) isUnclear = false;',
    noticedBy: 'test/simulation/scenarios/slow-manifest.test.ts',
  },
  {
    rule: 'C7',
    what: 'the files of pending compactions are garbage',
    file: gather,
    find: 'const compactions = new Set([...registry.pending, ...plans].map(({ number }) => number));',
    replace: 'const compactions = new Set(plans.slice(0, 0).map(({ number }) => number));',
  },
  {
    rule: 'C7',
    what: 'a checkpoint that somebody reads is retired',
    file: 'shared/runtime/checkpoint/take-checkpoint.ts',
    find: '({ object }) => !names.has(object) || pinned.has(object),',
    replace: '({ object }) => !names.has(object) || (pinned.has(object) && !pinned.has(object)),',
    noticedBy: 'test/simulation/scenarios/late-pin.test.ts',
  },
  {
    rule: 'C7',
    what: 'a manifest that may be going already is pinned',
    file: 'shared/runtime/checkpoint/pin-manifest.ts',
    find: 'if (!there.complete.some(({ object }) => object === pin.object)) {',
    replace: 'if (there.complete.length < 0) {',
    noticedBy: 'test/simulation/scenarios/late-pin.test.ts',
  },
  {
    rule: 'C7',
    what: 'the manifest that a generation was made from is garbage',
    file: classify,
    find: "if (facts.origins.has(name)) return live('a generation was made from it');\n",
    replace: '',
  },
  {
    rule: 'C8',
    what: 'channels that are read to their end are left out of manifests',
    file: readCut,
    find: 'const channels = await inParallel(read, requestsMax, async ({ channel, progress }) => {',
    replace:
      'const some = read.filter(({ progress }) => !progress.isFinished);\n  const channels = await inParallel(some, requestsMax, async ({ channel, progress }) => {',
  },
  {
    rule: 'R13',
    what: 'a drill holds the job',
    file: restoreWorkflow,
    find: "new Choice(this, 'Is it a drill?').when(next.isDrill, reserve).otherwise(hold),",
    replace: "new Choice(this, 'Is it a drill?').when(next.isDrill, hold).otherwise(hold),",
  },
  {
    rule: 'R15',
    what: 'a moment of the past is cut behind a unit that is not exact',
    file: cutInThePast,
    find: '    if (header.ahead.length > 0) continue;\n',
    replace: '',
  },
  {
    rule: 'R15',
    what: 'the cut of a moment of the past is not closed under lineage',
    file: cutInThePast,
    find: 'progress.parentIds.every((shardId) => !isOpen(channelId({ ...channel, shardId }))),',
    replace: 'progress.parentIds.every((shardId) => shardId !== channel.shardId),',
    noticedBy: 'test/unit/runtime/restore/point-in-time.test.ts',
  },
  {
    rule: 'R15',
    what: 'a grandchild of a shard that is cut before its end counts as begun',
    file: cutInThePast,
    find: 'known.has(id) && all.get(id)?.progress.isFinished !== true;',
    replace: 'known.has(id) && all.get(id)?.progress.isFinished === false;',
    noticedBy: 'test/unit/runtime/restore/point-in-time.test.ts',
  },
  {
    rule: 'C4',
    what: 'two coordinators trigger one checkpoint each',
    file: takeManifest,
    find: '    refuse(there);\n',
    replace: '',
    noticedBy: 'test/simulation/scenarios/two-coordinators.test.ts',
  },
  {
    rule: 'C4',
    what: 'a manifest that stands is passed over for the own one',
    file: takeManifest,
    find: "return outcome === 'created' ? manifest : readManifest(ports, name);",
    replace: "return outcome === 'created' ? manifest : manifest;",
    noticedBy: 'test/simulation/scenarios/two-coordinators.test.ts',
  },
  {
    rule: 'C4',
    what: 'work is completed that was registered anew under the same id',
    file: takeManifest,
    find: '({ id, number }) => id !== pending.id || number !== pending.number,',
    replace: '({ id }) => id !== pending.id,',
    noticedBy: 'test/unit/runtime/checkpoint/registered-anew.test.ts',
  },
  {
    rule: 'C7',
    what: 'what another collection has taken is called lost',
    file: gather,
    find: "if ((await readRegistry(ports)).version === registry.version) throw lost('manifest', name);",
    replace: "throw lost('manifest', name);",
    noticedBy: 'test/simulation/scenarios/two-collections.test.ts',
  },
  {
    rule: 'R5',
    what: 'a flip whose reply was lost is made again',
    file: 'shared/runtime/restore/flip.ts',
    find: '    if (job.hold.isFlipped && job.generation === generation) return undefined;\n',
    replace: '',
    noticedBy: 'test/simulation/scenarios/lost-replies.test.ts',
  },
  {
    rule: 'C1',
    what: 'a job without an item begins in its first generation',
    file: 'shared/runtime/open-channel.ts',
    find: '  if (job === undefined) {\n    throw',
    replace: '  if (job === undefined) return 1;\n  if (job === null) {\n    throw',
    noticedBy: 'test/unit/runtime/process-batch.test.ts',
  },
  {
    rule: 'C9',
    what: 'damaged bytes are taken for sound where there is a copy',
    file: 'shared/runtime/check-object.ts',
    find: "      case 'savepoint-file':\n        decodeRunFile(bytes, name);\n        return;",
    replace:
      "      case 'savepoint-file':\n        if (bytes.length === 0) decodeRunFile(bytes, name);\n        return;",
    noticedBy: 'test/unit/runtime/restore/from-backup.test.ts',
  },
  {
    rule: 'R8',
    what: 'a mapping may give batches up',
    file: 'shared/runtime/restore/check-mappings.ts',
    find: 'isBroken: ({ retriesMax }) => retriesMax !== -1,',
    replace: 'isBroken: ({ retriesMax }) => retriesMax < -1,',
    noticedBy: 'test/unit/runtime/restore/mappings.test.ts',
  },
  {
    rule: 'R9',
    what: 'positions of another stream are taken for those of this one',
    file: 'shared/runtime/restore/check-restore.ts',
    find: '  if (other === undefined) return [];\n',
    replace: '  if (other === undefined || other !== undefined) return [];\n',
    noticedBy: 'test/unit/runtime/restore/refused-restore.test.ts',
  },
  {
    rule: 'R11',
    what: 'what has been collected is needed to make lost tables again',
    file: 'shared/runtime/restore/republish.ts',
    find: 'const everythingKept = { after: undefined, isAsFarAsKept: true };',
    replace: 'const everythingKept = { after: undefined, isAsFarAsKept: false };',
    noticedBy: 'test/unit/runtime/restore/lost-after-collection.test.ts',
  },
  {
    rule: 'R14',
    what: 'a job that was stopped goes on by itself',
    file: 'shared/runtime/restore/end-stale-hold.ts',
    find: "hold.isFlipped || hold.kind === 'stopped' || !canBeEnded",
    replace: 'hold.isFlipped || !canBeEnded',
    noticedBy: 'test/unit/runtime/restore/stale-hold.test.ts',
  },
];

export const checkpointMutants: readonly Mutant[] = mutants.map((mutant) => ({
  noticedBy: 'system',
  ...mutant,
}));
