import type { Mutant } from './mutant.ts';

const commitUnit = 'shared/runtime/commit-unit.ts';

/** Of the rules of units, keys, progress, lineage and poison. */
export const commitMutants: readonly Mutant[] = [
  {
    rule: 'P1',
    what: 'progress is committed before outputs are acknowledged',
    file: commitUnit,
    find: `  const other = await commitProgress(runtime, session, next);
  if (other !== undefined) return { kind: 'superseded', progress: other };
`,
    replace: `  const other = await commitProgress(runtime, session, next);
  if (other !== undefined) return { kind: 'superseded', progress: other };
  await flushOutputs(runtime, session, unit.runs.values(), end.position!);
`,
    also: {
      find: '    flushOutputs(runtime, session, unit.runs.values(), end.position!),\n',
      replace: '',
    },
  },
  {
    rule: 'P1',
    what: 'outputs are published before the states are written',
    file: commitUnit,
    find: `  const refused = await writeStates(`,
    replace: `  await flushOutputs(runtime, session, unit.runs.values(), unit.end.position!);
  const refused = await writeStates(`,
  },
  {
    rule: 'P1',
    what: 'progress is committed before the states are written',
    file: commitUnit,
    find: `  const refused = await writeStates(runtime, session, unit, attempt);
  if (refused !== undefined) return { kind: 'failed', failure: refused };
`,
    replace: `  const late = () => writeStates(runtime, session, unit, attempt);
`,
  },
  {
    rule: 'P2',
    what: 'a write of a key drops its emissions that are past progress',
    file: 'shared/runtime/run-key.ts',
    find: 'run.emissions = [...emissionsPast(itemEmissions, progress)];',
    replace: 'run.emissions = [];',
  },
  {
    rule: 'P2',
    what: 'the loser of a conflict publishes what it computed',
    file: commitUnit,
    find: `if (outcomes[at] === 'written') {`,
    replace: `if (outcomes[at] !== undefined) {`,
  },
  {
    rule: 'P3',
    what: 'a key that was skipped is not flushed',
    file: 'shared/runtime/flush-outputs.ts',
    find: 'for (const run of runs) {',
    replace:
      'for (const run of runs) {\n    if (run.position === run.stored?.position && !run.records.some((r) => r.position === run.position)) continue;',
  },
  {
    rule: 'P3',
    what: 'outputs past the end of the unit are published',
    file: 'shared/runtime/flush-outputs.ts',
    find: 'emissionsUpTo(run.emissions, end)',
    replace: 'run.emissions',
  },
  {
    rule: 'P3',
    what: 'the segment leaves out the pending emissions',
    file: commitUnit,
    find: '  if (run.emissions.length > 0) return [stored];\n',
    replace: '',
  },
  {
    rule: 'P3',
    what: 'a key that was skipped is left out of the segment',
    file: commitUnit,
    find: '  if (stored === undefined) return [];\n',
    replace:
      '  if (stored === undefined || !run.records.some((r) => r.position === stored.position)) return [];\n',
  },
  {
    rule: 'P4',
    what: 'keys that are ahead are not recorded',
    file: commitUnit,
    find: 'if (isPast(stored.position, end) || ',
    replace: 'if ((isPast(stored.position, end) && ahead.length > 0) || ',
  },
  {
    rule: 'P4',
    what: 'a unit without a record of a key that is ahead does not touch it',
    file: 'shared/runtime/unit.ts',
    find: 'if (!runs.has(key)) runs.set(',
    replace: "if (key === '') runs.set(",
  },
  {
    rule: 'P4',
    what: 'the ahead keys of the head segment are forgotten by the next environment',
    file: 'shared/runtime/channel-session.ts',
    find: 'session.memory.ahead = header.ahead;',
    replace: 'session.memory.ahead = [];',
  },
  {
    rule: 'P5',
    what: 'a key that lost is reloaded, but its records are not run again',
    file: commitUnit,
    find: 'const failure = rerunKey(runtime, session, unit, run);',
    replace: 'const failure = undefined as UnitFailure | undefined;',
  },
  {
    rule: 'P5',
    what: 'a key that lost is written again over the winner',
    file: commitUnit,
    find: '    await reloadRuns(runtime, session, losers, unit);\n',
    replace: `    const before = losers.map((run) => ({ ...run }));
    await reloadRuns(runtime, session, losers, unit);
    losers.forEach((run, at) => Object.assign(run, before[at], { stored: run.stored }));
`,
  },
  {
    rule: 'P5',
    what: 'a record is applied though the key is past it',
    file: 'shared/runtime/run-key.ts',
    find: 'if (!isPast(record.position, run.position)) {',
    replace: 'if (run.position === record.position) {',
  },
  {
    rule: 'P7',
    what: 'a batch is acknowledged though progress has not reached its end',
    file: 'shared/runtime/process-batch.ts',
    find: "return { kind: 'handBack', fromSequence: first.sequence, reason, counters };",
    replace: "return { kind: 'done', counters };",
  },
  {
    rule: 'P7',
    what: 'who lost the commit goes on as if it had won',
    file: commitUnit,
    find: '      session.counters.progressConflicts += 1;\n      return current;',
    replace: '      session.counters.progressConflicts += 1;\n      return undefined;',
  },
  {
    rule: 'P8',
    what: 'the warm cache is trusted whoever committed last',
    file: 'shared/runtime/environment-memory.ts',
    find: `    own !== undefined &&
    own.generation === progress.generation &&
    own.version === progress.version &&
    own.attempt === progress.attempt
`,
    replace: `    own !== undefined &&
    own.generation === progress.generation
`,
  },
  {
    rule: 'P8',
    what: 'after a throw the half-changed states stay in the warm cache',
    file: 'shared/runtime/advance-channel.ts',
    find: '  forgetItems(session.memory);\n',
    replace: '',
  },
  {
    rule: 'P8',
    what: 'after an unknown reply the half-changed states stay in the warm cache',
    file: 'shared/runtime/advance-channel.ts',
    find: '    distrustSession(session);\n',
    replace: '',
  },
  {
    rule: 'P9',
    what: 'a child does not wait for its parents',
    file: 'shared/runtime/open-channel.ts',
    find: 'for (const parentId of shard.parentIds) {',
    replace: 'for (const parentId of shard.parentIds.slice(2)) {',
  },
  {
    rule: 'P9',
    what: 'a shard counts as finished at the first page of its records',
    file: 'shared/runtime/catch-up.ts',
    find: 'if (page.isEndOfShard) return await finishChannel(',
    replace: 'if (page.records.length > 0 || page.isEndOfShard) return await finishChannel(',
  },
  {
    rule: 'P9',
    what: 'a parent is read to its end and not marked as finished',
    file: 'shared/runtime/catch-up.ts',
    find: '      isFinished: true,\n',
    replace: '',
  },
  {
    rule: 'P6',
    what: 'a firing does not raise the position of its key',
    file: 'shared/runtime/run-key.ts',
    find: '  run.position = at.position;\n',
    replace: '',
  },
  {
    rule: 'P13',
    what: 'outputs are counted over the whole unit',
    file: 'shared/operator/operator-instance.ts',
    find: '    index = 0;\n',
    replace: '',
  },
  {
    rule: 'P14',
    what: 'a tombstone may be collected while its record can still come again',
    file: 'shared/runtime/expire-tombstones.ts',
    find: 'retentionSeconds + marginSeconds',
    replace: '1',
  },
  {
    rule: 'P15',
    what: 'a record that cannot be decoded is dropped',
    file: 'shared/runtime/run-key.ts',
    find: '    run.emissions.push(deadLetterOf(record, record.verdict));\n',
    replace: '',
  },
  {
    rule: 'P15',
    what: 'a record that throws is dead-lettered at once',
    file: 'shared/runtime/suspicion-log.ts',
    find: 'if (next.throws >= runtime.settings.attemptsMax) return true;',
    replace: 'if (next.throws >= 1) return true;',
  },
  {
    rule: 'P15',
    what: 'a verdict hits whatever timer comes first',
    file: 'shared/runtime/run-unit.ts',
    find: 'return verdict !== undefined && compareSteps(verdict.step, step) === 0',
    replace: 'return verdict !== undefined && step !== undefined',
  },
  {
    rule: 'P16',
    what: 'attempts write their segment under one name',
    file: 'shared/runtime/object-names.ts',
    find: '-${reference.attempt}.seg',
    replace: '.seg',
  },
];
