import type { Mutant } from './mutant.ts';

const commitUnit = 'shared/runtime/commit-unit.ts';
const runUnit = 'shared/runtime/run-unit.ts';
const dueKeys = 'shared/runtime/due-keys.ts';
const timerHints = 'shared/runtime/timer-hints.ts';

/** Of P12: how timers are found that become due, and what a unit does that ends inside a firing. */
export const hintMutants: readonly Mutant[] = [
  {
    rule: 'P12',
    what: 'keys that were too many at once are forgotten where the unit ends before their time',
    file: 'shared/runtime/due-keys.ts',
    find: '  for (const { domain, time } of due.rest) earliest[domain] = earlierTime(earliest[domain], time);\n',
    replace: '',
    noticedBy: 'test/unit/runtime/due-keys.test.ts',
  },
  {
    rule: 'P12',
    what: 'hints are inserted after progress',
    file: commitUnit,
    find: '    insertHints(runtime, session, unit),\n',
    replace: '',
    also: {
      find: '  await removeFiredHints(',
      replace: '  await insertHints(runtime, session, unit);\n  await removeFiredHints(',
    },
  },
  {
    rule: 'P12',
    what: 'hints are removed before progress',
    file: commitUnit,
    find: '  const next = nextProgress(',
    replace: '  await removeFiredHints(runtime, session, unit);\n  const next = nextProgress(',
  },
  {
    rule: 'P12',
    what: 'hints of keys that have not fired yet are removed',
    file: timerHints,
    find: '(firing === undefined || hasFiredKey(hint, firing))',
    replace: 'firing !== null',
  },
  {
    rule: 'P12',
    what: 'hints of times that the unit has not come to are removed',
    file: timerHints,
    find: 'const isPassed = isHintDue(session, watermarks, hint);',
    replace: 'const isPassed = watermarks !== undefined;',
  },
  {
    rule: 'P12',
    what: 'the hint of a timer that was cancelled or moved is removed',
    noticedBy: 'test/unit/runtime/cancelled-timers.test.ts',
    file: timerHints,
    find: '  if (fired.length === 0) return;\n',
    replace: `  for (const run of unit.runs.values()) {
    for (const domain of domains) {
      const time = run.hinted[domain];
      if (time === undefined || time === earliestTimers(run)[domain]) continue;
      fired.push({ domain, time, key: run.place.key, keyHash: run.place.hash });
    }
  }
  if (fired.length === 0) return;
`,
  },
  {
    rule: 'P12',
    what: 'the next timer of a key gets no hint',
    file: timerHints,
    find: 'time === undefined || time === run.hinted[domain]',
    replace: 'time === undefined || run.hinted[domain] !== undefined',
  },
  {
    rule: 'P12',
    what: 'a key that has no record in the unit gets no hint',
    file: timerHints,
    find: 'if (run.timers.length === 0) return [];',
    replace: 'if (run.timers.length === 0 || run.records.length === 0) return [];',
  },
  {
    rule: 'P12',
    what: 'a key whose record registers what is due already is not touched until that has fired',
    file: runUnit,
    find: 'if (!isOfRecord && !wasLeft) return false;',
    replace: 'return false;',
  },
  {
    rule: 'P12',
    what: 'a timer that is registered again does not move',
    file: 'shared/operator/key-timers.ts',
    find: '      removeTimer(cursor.timers, name, domain);\n      if (',
    replace: '      if (',
  },
  {
    rule: 'P12',
    what: 'a timer that fires may register one before itself',
    file: 'shared/operator/key-timers.ts',
    find: 'firingTime === undefined ? time : Math.max(time, firingTime + 1)',
    replace: 'time',
  },
  {
    rule: 'P12',
    what: 'a timer fires behind a record that its key is past',
    file: runUnit,
    find: '(timer) => isDue(timer, watermarks) && isPast(firingPosition(behind, run, timer), run.position)',
    replace: '(timer) => isDue(timer, watermarks)',
  },
  {
    rule: 'P12',
    what: 'timers fire between the parts of an aggregated record',
    file: runUnit,
    find: `    if (!record.isEndOfRecord) continue;
    advance(loop, said, record.arrivalMs);
    said = undefined;
    if (isAnyDue`,
    replace: `    advance(loop, said, record.arrivalMs);
    said = undefined;
    if (isAnyDue`,
  },
  {
    rule: 'P12',
    what: '`earliest` leaves out the timers of touched keys',
    file: dueKeys,
    find: 'earliest[domain] = earlierTime(known, touched[domain]);',
    replace: 'earliest[domain] = known;',
  },
  {
    rule: 'P12',
    what: '`earliest` leaves out the hints that are not due yet',
    file: dueKeys,
    find: 'const known = isSettled ? due.next[domain] : session.progress.earliest[domain];',
    replace: 'const known = isSettled ? undefined : session.progress.earliest[domain];',
  },
  {
    rule: 'P12',
    what: '`earliest` moves on while timers have still to fire',
    file: dueKeys,
    find: 'due.wasAsked[domain] && !isFiring',
    replace: 'due.wasAsked[domain]',
    also: {
      find: '  for (const { domain, time } of due.rest) earliest[domain] = earlierTime(earliest[domain], time);\n',
      replace: '',
    },
  },
  {
    rule: 'P12',
    what: 'a child does not look for the timers of its parents',
    file: 'shared/runtime/open-channel.ts',
    find: "event: earliestOf(parents, 'event'),",
    replace: 'event: undefined,',
  },
  {
    rule: 'P12',
    what: 'a unit goes on with the next record before all timers have fired',
    file: 'shared/runtime/advance-channel.ts',
    find: 'rest.length > 0 || session.progress.firing !== undefined',
    replace: 'rest.length > 0',
  },
  {
    rule: 'P12',
    what: 'a unit that goes on with the timers of a record holds further records',
    file: 'shared/runtime/advance-channel.ts',
    find: 'const recordsMax = isFiring ? 0 : Math.min(',
    replace: 'const recordsMax = Math.min(',
  },
  {
    rule: 'P12',
    what: 'with too many keys due, those that come first are not the ones with the smallest hashes',
    file: dueKeys,
    find: 'hints: hints.sort(compareHints)',
    replace: 'hints: hints.sort((a, b) => compareHints(b, a))',
  },
  {
    rule: 'P12',
    what: 'with too many keys due, touched keys fire before those that were not loaded',
    file: runUnit,
    find: '    if (border !== undefined && isBeyond(run, border)) break;\n',
    replace: '',
  },
  {
    rule: 'P12',
    what: 'what has fired is no part of the cut of a unit that ends inside a firing',
    file: runUnit,
    find: 'const step = firing ?? (',
    replace: "const step = firing !== undefined ? 'none' : (",
  },
  {
    rule: 'P12',
    what: 'the cut lies at the record where nothing is left to fire behind it',
    file: runUnit,
    find: "(runtime.operator.onTimer === undefined ? 'none' : endOfFiring)",
    replace: "'none'",
  },
  {
    rule: 'P10',
    what: 'a shard finds the hints of its sibling',
    file: 'shared/adapters/memory/memory-hint-store.ts',
    find: 'if (!isHere || !isInRange) continue;',
    replace: 'if (!isHere) continue;',
  },
];
