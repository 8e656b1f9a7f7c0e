import type { Mutant } from './mutant.ts';

const replaySteps = 'shared/composition/aws/restore-steps-replay.ts';
const restoreSteps = 'shared/composition/aws/restore-steps.ts';
const restoreWorkflow = 'infra/restore-workflow.ts';
const hold = 'shared/runtime/restore/hold.ts';
const load = 'shared/runtime/restore/load.ts';
const steps = 'shared/runtime/restore/restore-steps.ts';
const sweep = 'shared/runtime/restore/sweep.ts';
const leftBehind = 'shared/runtime/restore/left-behind.ts';
const openChannel = 'shared/runtime/open-channel.ts';

/** Changes that break the rules of hold, restore and generations (part C). */
const mutants: readonly Mutant[] = [
  {
    rule: 'R1',
    what: 'a hold is taken whatever has become of the job meanwhile',
    file: hold,
    find: 'if (job.version === jobVersion) {',
    replace: 'if (jobVersion > 0) {',
  },
  {
    rule: 'R1',
    what: 'the hold of a restore that has not flipped is taken over',
    file: hold,
    find: "(kind === 'restore' && isFlipped)",
    replace: "kind === 'restore'",
  },
  {
    rule: 'R1',
    what: 'an abort forgets the hold that was taken over',
    file: hold,
    find: ': { ...job, hold: before };',
    replace: ': { ...job, hold: undefined };',
  },
  {
    rule: 'R1',
    what: 'a hold that was given back does not fence anew',
    file: replaySteps,
    find: '      await fenceChannels(ports, id);\n',
    replace: '      if (id === undefined) await fenceChannels(ports, id);\n',
  },
  {
    rule: 'R1',
    what: 'what a hold that was taken over had to reach is forgotten',
    file: 'shared/runtime/restore/flip.ts',
    find: 'one !== undefined; one = one.before) {',
    replace: 'one !== undefined; one = undefined) {',
  },
  {
    rule: 'R2',
    what: 'a fence does not raise the version',
    file: 'shared/adapters/memory/memory-control-store.ts',
    find: '{ ...current, version: current.version + 1, fence }',
    replace: '{ ...current, fence }',
  },
  {
    rule: 'R2',
    what: 'the held positions are read before the fences',
    file: restoreWorkflow,
    find: 'hold.next(fence).next(undo).next(reserve).next(load).next(compare);',
    replace: 'hold.next(undo).next(fence).next(reserve).next(load).next(compare);',
  },
  {
    rule: 'R2',
    what: 'the undo point of an earlier hold of the same restore is taken for that of this one',
    file: steps,
    find: 'return `${workLabel(restore)}#${holdId}`;',
    replace: 'return `${workLabel(restore)}#${holdId.slice(0, 0)}`;',
  },
  {
    rule: 'R3',
    what: 'a stale fence is cleared by a unit that has not joined',
    file: 'shared/runtime/channel-session.ts',
    find: 'staleFence !== undefined && hasJoined ?',
    replace: 'staleFence !== undefined && (hasJoined || !hasJoined) ?',
    noticedBy: 'test/unit/runtime/fences.test.ts',
  },
  {
    rule: 'R3',
    what: 'a fence is judged by what the environment remembers of the job',
    file: openChannel,
    find: `  runtime.memory.generation = undefined;
  const present`,
    replace: '  const present',
  },
  {
    rule: 'R3',
    what: 'a fence of another generation is taken for one of the present',
    file: openChannel,
    find: '  if (present !== generation) return false;\n',
    replace: '',
  },
  {
    rule: 'R4',
    what: 'a number of a generation is used again by another restore',
    file: 'shared/runtime/restore/reservation.ts',
    find: 'if (there?.restore === wanted.restore && there.hold === wanted.hold) return there;',
    replace: 'if (there !== undefined) return { ...there, ...wanted };',
  },
  {
    rule: 'R4',
    what: 'a number of a generation is used again under another hold',
    file: 'shared/runtime/restore/reservation.ts',
    find: 'there?.restore === wanted.restore && there.hold === wanted.hold',
    replace: 'there?.restore === wanted.restore',
  },
  {
    rule: 'R5',
    what: 'a loader overwrites',
    file: load,
    find: 'some.map(({ item }) => ({ item, expectedVersion: undefined })),',
    replace: `await Promise.all(
        some.map(async ({ item }) => ({
          item,
          expectedVersion: (await ports.state.load(scope, [item])).get(item.key)?.version,
        })),
      ),`,
  },
  {
    rule: 'R5',
    what: 'the job is changed under whatever hold there is',
    file: hold,
    find: `    if (job.hold?.id !== holdId) throw lostHold(job, holdId);
    return change(`,
    replace: `    if (job.hold === undefined) throw lostHold(job, holdId);
    return change(`,
  },
  {
    rule: 'R5',
    what: 'the flip needs no undo point',
    file: restoreSteps,
    find: "object: (await writeUndo(ports, order, id)) ?? '',",
    replace: "object: (await writeUndo(ports, order, id).catch(() => undefined)) ?? '',",
  },
  {
    rule: 'R5',
    what: 'progress is loaded without a fence',
    file: load,
    find: 'fence: holdId,',
    replace: 'fence: holdId === undefined ? holdId : undefined,',
  },
  {
    rule: 'R5',
    what: 'the hold is released before every channel is where it was held',
    file: replaySteps,
    find: 'const visited = await visitAll(ports, replay, targets, part, deadline);',
    replace:
      'const visited = { ...(await visitAll(ports, replay, targets, part, deadline)), isDone: true };',
    also: {
      find: 'acceptsGaps ? [] : await findBehind(ports, id, await readTargets(ports, id))',
      replace:
        'acceptsGaps || !acceptsGaps ? [] : await findBehind(ports, id, await readTargets(ports, id))',
    },
  },
  {
    rule: 'R6',
    what: 'the replay comes before the flip',
    file: restoreSteps,
    find: '      await flipJob(ports, id, await requireReservation(ports, generation));\n',
    replace: `      for (const { operator, shardId, goal } of await readTargets(ports, id)) {
        await ports.calls.visit(operator, { shardId, goal, hold: id });
      }
      await flipJob(ports, id, await requireReservation(ports, generation));
`,
    also: {
      find: "import { flipJob } from '../../runtime/restore/flip.ts';",
      replace: "import { flipJob, readTargets } from '../../runtime/restore/flip.ts';",
    },
  },
  {
    rule: 'R6',
    what: 'outputs of a replay carry the old generation',
    file: 'shared/runtime/flush-outputs.ts',
    find: 'generation: session.progress.generation,',
    replace: 'generation: 1,',
  },
  {
    rule: 'R7',
    what: 'what the trigger has gone past is not read',
    file: 'shared/runtime/process-batch.ts',
    find: 'const mustLook = mayHaveSkipped(runtime, session, first);',
    replace: 'const mustLook = records.length === 0 && mayHaveSkipped(runtime, session, first);',
  },
  {
    rule: 'R7',
    what: 'the trigger is believed though a catch-up has not come to its end',
    file: 'shared/runtime/process-batch.ts',
    find: 'session.memory.isBehindTrigger = true;',
    replace: 'session.memory.isBehindTrigger = false;',
    noticedBy: 'test/unit/runtime/skipped-records.test.ts',
  },
  {
    rule: 'R11',
    what: 'what a job begins with is garbage while it has not begun',
    file: 'shared/runtime/checkpoint/gather-garbage-facts.ts',
    find: 'Math.max(present, ...known)',
    replace: 'present',
    noticedBy: 'lost-tables',
  },
  {
    rule: 'R7',
    what: 'the trigger is believed though its batch was handed back behind the catch-up',
    file: 'shared/runtime/process-batch.ts',
    find: '  session.hasJoined = true;\n  const inputs = ',
    replace:
      '  session.hasJoined = true;\n  session.memory.isBehindTrigger = false;\n  const inputs = ',
    noticedBy: 'test/unit/runtime/skipped-records.test.ts',
  },
  {
    rule: 'R7',
    what: 'the trigger is believed after a batch from before what it has gone past',
    file: 'shared/runtime/process-batch.ts',
    find: 'if (mustLook) session.memory.isBehindTrigger = false;',
    replace: 'session.memory.isBehindTrigger = false;',
    noticedBy: 'test/unit/runtime/skipped-records.test.ts',
  },
  {
    rule: 'R7',
    what: 'the trigger is believed by an environment that another one has passed',
    file: 'shared/runtime/process-batch.ts',
    find: 'if (isBehindTrigger || !session.isWarm || session.staleFence !== undefined) return true;',
    replace: 'if (isBehindTrigger || session.staleFence !== undefined) return true;',
    noticedBy: 'test/unit/runtime/skipped-records.test.ts',
  },
  {
    rule: 'R10',
    what: 'rows past a fork count',
    file: 'shared/core/row-validity.ts',
    find: 'return fork !== undefined && !isPast(position, fork);',
    replace: 'return fork === undefined || isPast(position, fork) || !isPast(position, fork);',
  },
  {
    rule: 'R10',
    what: 'rows of a generation that was undone count',
    file: 'shared/core/row-validity.ts',
    find: 'if (!ends.has(own)) return false;',
    replace: 'if (!ends.has(own)) return true;',
  },
  {
    rule: 'R10',
    what: 'channels begun behind the cut have no fork',
    file: steps,
    find: '[...listed, ...lacking.map((channel) => [channel, undefined] as const)]',
    replace: '[...listed, ...lacking.slice(0, 0).map((channel) => [channel, undefined] as const)]',
  },
  {
    rule: 'R10',
    what: 'void rows are not swept',
    file: sweep,
    find: 'if (isOlder && !rule(row)) batch.push(row);',
    replace: 'if (isOlder && !isOlder && !rule(row)) batch.push(row);',
  },
  {
    rule: 'R10',
    what: 'a late sweep removes what a later restore has made',
    file: sweep,
    find: 'if (isOlder && !rule(row)) batch.push(row);',
    replace: 'if (!rule(row)) batch.push(row);',
  },
  {
    rule: 'R10',
    what: 'void view rows are not rewritten',
    file: sweep,
    find: "swept.table.kind === 'upsert'\n",
    replace: "swept.name === ''\n",
  },
  {
    rule: 'R10',
    what: 'nothing is republished',
    file: leftBehind,
    find: 'return known.filter((one) => one > whole && !way.has(one));',
    replace: 'return known.slice(0, 0).filter((one) => one > whole && !way.has(one));',
  },
  {
    rule: 'R10',
    what: 'only what the generation before did not count is republished',
    noticedBy: 'lost-tables',
    file: leftBehind,
    find: 'return known.filter((one) => one > whole && !way.has(one));',
    replace: 'return known.slice(-1).filter((one) => one > whole && !way.has(one));',
  },
];

export const restoreMutants: readonly Mutant[] = mutants.map((mutant) => ({
  noticedBy: 'system',
  ...mutant,
}));
