import type { Mutant } from './mutant.ts';

const holdWindow = 'shared/operator/windows/hold-window.ts';
const windowing = 'shared/operator/windows/windowing.ts';

/** Of windows: what they hold, when they fire and how long they stay. */
export const windowMutants: readonly Mutant[] = [
  {
    what: 'a window takes events for a millisecond longer than it is kept',
    file: holdWindow,
    find: 'if (keptUntil(rules, wanted) <= scope.watermark) return undefined;',
    replace: 'if (keptUntil(rules, wanted) < scope.watermark) return undefined;',
  },
  {
    what: 'lateness is a millisecond longer than allowed',
    file: holdWindow,
    find: 'return end + rules.latenessMs;',
    replace: 'return end + rules.latenessMs + 1;',
  },
  {
    what: 'sessions merge and have no timer then',
    file: holdWindow,
    find: '  scope.windows.set(nameWindow(held), held);\n  return { held, isMoved: true };',
    replace: '  scope.windows.set(nameWindow(held), held);\n  return { held, isMoved: false };',
  },
  {
    what: 'sessions merge and lose what one of them held',
    file: holdWindow,
    find: '(merged, one) => aggregator.merge?.(merged, one.accumulator)',
    replace: '(merged) => merged',
  },
  {
    what: 'sessions merge and do not say what they replace',
    file: holdWindow,
    find: 'reported: joined.flatMap((one) => one.reported)',
    replace: 'reported: []',
  },
  {
    what: 'an event for a window that has fired gives no update',
    file: windowing,
    find: "    reportWindow(rules, held, 'late-update', scope, report);\n",
    replace: '',
  },
  {
    what: 'the end of the stream closes windows that have fired',
    file: windowing,
    find: "        if (held.stage !== 'open') continue;\n",
    replace: '',
  },
  {
    what: 'a window is forgotten when it fires, not when its lateness has passed',
    file: windowing,
    find: '  if (timer.time >= until) dropWindow(held, scope);',
    replace: '  if (timer.time > 0) dropWindow(held, scope);',
  },
  {
    what: 'a window is never forgotten',
    file: windowing,
    find: '  if (timer.time >= until) dropWindow(held, scope);\n  else scope',
    replace: '  if (timer.time < until) scope',
  },
  {
    what: 'a window fires again when its lateness has passed',
    file: windowing,
    find: "  if (held.stage === 'open') {\n    closeWindow",
    replace: '  {\n    closeWindow',
  },
  {
    what: 'an event goes into the last of its sliding windows only',
    file: 'shared/operator/windows/window-assigner.ts',
    find: '      return windows.reverse();',
    replace: '      return windows.slice(0, 1);',
  },
].map((mutant) => ({ ...mutant, rule: 'windows', noticedBy: 'windows' }));
