import type { Mutant } from './mutant.ts';

const runUnit = 'shared/runtime/run-unit.ts';
const watermark = 'shared/core/watermark.ts';

/** Of P11: when time goes on, and in which order timers fire. */
export const watermarkMutants: readonly Mutant[] = [
  {
    rule: 'P11',
    what: 'the watermark is that of the whole unit',
    file: runUnit,
    find: `    watermarks: { ...progress.watermarks },
    nextDue: { event: -Infinity, arrival: -Infinity },`,
    replace: `    watermarks: unit.records.reduce(
      ({ event, arrival }, record) => ({
        event: laterTime(event, record.eventWatermark),
        arrival: laterTime(arrival, record.arrivalMs),
      }),
      { ...progress.watermarks },
    ),
    nextDue: { event: -Infinity, arrival: -Infinity },`,
  },
  {
    rule: 'P11',
    what: 'a record that is condemned has no say in time',
    file: 'shared/runtime/decode-records.ts',
    find: 'return { ...record, event: undefined, verdict };',
    replace: 'return { ...record, event: undefined, verdict, eventWatermark: undefined };',
  },
  {
    rule: 'P11',
    what: 'a record that does not decode has a say in time',
    file: 'shared/runtime/decode-records.ts',
    find: 'verdict: { reason, message }, eventWatermark: undefined }',
    replace: 'verdict: { reason, message }, eventWatermark: 120 }',
  },
  {
    rule: 'P11',
    what: 'heartbeats are passed over',
    file: 'shared/runtime/decode-records.ts',
    find: 'eventWatermark: heartbeat }',
    replace: 'eventWatermark: undefined }',
  },
  {
    rule: 'P11',
    what: 'timers fire at the end of the unit, not behind the record that makes them due',
    file: runUnit,
    find: '    if (isAnyDue(loop)) {',
    replace: '    if (isAnyDue(loop) && index === records.length - 1) {',
  },
  {
    rule: 'P11',
    what: 'a timer that is due when it is registered waits for the next advance',
    file: runUnit,
    find: 'function lowerNextDue({ session, nextDue }: Loop,',
    replace: 'function lowerNextDue({ session, nextDue, watermarks }: Loop,',
    also: {
      find: '    if (time < nextDue[timer.domain])',
      replace: '    if (!isDue(timer, watermarks) && time < nextDue[timer.domain])',
    },
  },
  {
    rule: 'P11',
    what: 'a timer that is due by what its key has seen elsewhere waits for the channel',
    file: runUnit,
    find: 'const time = isDue(timer, seen) ? -Infinity : timer.time;',
    replace: 'const { time } = timer;',
  },
  {
    rule: 'P11',
    what: 'keys fire in the order in which they were touched',
    file: runUnit,
    find: '    .sort(compareRuns);\n  for (const run of candidates) {',
    replace: ';\n  for (const run of candidates) {',
  },
  {
    rule: 'P11',
    what: 'keys fire by turns',
    file: runUnit,
    find: `  for (const run of candidates) {
    if (border !== undefined && isBeyond(run, border)) break;
    for (;;) {`,
    replace: `  for (const run of [...candidates, ...candidates, ...candidates, ...candidates]) {
    if (border !== undefined && isBeyond(run, border)) break;
    for (let turn = 0; turn < 1; turn += 1) {`,
  },
  {
    rule: 'P11',
    what: 'the timers of a key fire by name',
    file: 'shared/core/timer.ts',
    find: 'return a.time - b.time || compareTexts(timerStepName(a), timerStepName(b));',
    replace: 'return compareTexts(timerStepName(a), timerStepName(b)) || a.time - b.time;',
  },
  {
    rule: 'P11',
    what: 'timers of a key for one time fire in the order in which they were registered',
    file: 'shared/core/timer.ts',
    find: 'return a.time - b.time || compareTexts(timerStepName(a), timerStepName(b));',
    replace: 'return a.time - b.time;',
  },
  {
    rule: 'P11',
    what: 'a child forgets what its parents have seen',
    file: 'shared/runtime/open-channel.ts',
    find: '    floors,\n',
    replace: '    floors: [],\n',
  },
  {
    rule: 'P11',
    what: 'a child forgets what the parents of its parents have seen',
    file: watermark,
    find: '...parent.floors.map(',
    replace: '...parent.floors.slice(parent.floors.length).map(',
  },
  {
    rule: 'P11',
    what: 'what one parent has seen counts for the keys of the other',
    file: watermark,
    find: 'inherited.push({ range: { from, to }, watermarks });',
    replace: 'inherited.push({ range: child, watermarks });',
  },
  {
    rule: 'P11',
    what: 'a floor holds a key down',
    file: watermark,
    find: 'return laterOf(channel, watermarks);',
    replace: 'return watermarks;',
  },
  {
    rule: 'P11',
    what: 'progress forgets the watermark',
    file: 'shared/runtime/commit-unit.ts',
    find: '    watermarks,\n    floors:',
    replace: '    watermarks: session.progress.watermarks,\n    floors:',
  },
];
