import { readFindingMark } from './finding-marks.ts';
import type { SimulationRun } from './simulation-run.ts';

/** What the letters before a process's number stand for; others are told as they are. */
const processKinds: Readonly<Record<string, string>> = {
  '#': 'invocation',
  A: 'abort',
  G: 'garbage collection',
  K: 'coordinator',
  S: 'workflow step',
  V: 'visit',
};

const width = 110;
const findingsTold = 5;
/** Lines of the story that are told once more around a finding. */
const around = { before: 8, after: 2 };

/** A line of a story, and the line of the trace that it begins with. */
interface StoryLine {
  readonly at: number;
  readonly text: string;
}

const legend =
  '`call` took effect and was answered at once; `call …` took effect, and `… call` is its answer, later.';

/**
 * A trace for people: who makes which calls, one process after the other, who dies where, what is refused or lost, and what was
 * found in the end with the steps around it.
 */
export function tellTrace({ findings, trace }: Pick<SimulationRun, 'findings' | 'trace'>): string {
  const story = tellSteps(trace);
  return [
    legend,
    '',
    ...story.map(({ text }) => text),
    '',
    ...tellFindings(findings, trace, story),
  ].join('\n');
}

/** What was found, each with the steps that led to it; where it is not known to which it belongs, with the last ones. */
export function tellEnd({ findings, trace }: Pick<SimulationRun, 'findings' | 'trace'>): string {
  return tellFindings(findings, trace, tellSteps(trace)).join('\n');
}

function tellFindings(
  findings: readonly string[],
  trace: readonly string[],
  story: readonly StoryLine[],
): string[] {
  if (findings.length === 0) return ['nothing found'];
  let toldUpTo = -1;
  const told = findings.slice(0, findingsTold).flatMap((finding) => {
    const mark = trace.findIndex((line) => readFindingMark(line) === finding);
    const line = mark < 0 ? story.length : story.findLastIndex(({ at }) => at <= mark);
    if (line <= toldUpTo) return [`✗ ${finding}`];
    toldUpTo = line + around.after;
    const steps = story.slice(Math.max(0, line - around.before), toldUpTo + 1);
    const title = mark < 0 ? '  the last steps:' : '  the steps around it:';
    return [`✗ ${finding}`, title, ...steps.map(({ text }) => `  │ ${text}`)];
  });
  const more = findings.length - findingsTold;
  return more > 0 ? [...told, `… and ${more} more`] : told;
}

interface Step {
  readonly owner: string;
  readonly kind: 'before' | 'after';
  readonly call: string;
  readonly isDeath: boolean;
}

function readStep(line: string): Step | undefined {
  const [, owner, kind, call, death] = /^(\S+) (before|after) (.*?)( ✝)?$/.exec(line) ?? [];
  if (owner === undefined) return undefined;
  const isDeath = death !== undefined;
  return { owner, kind: kind as Step['kind'], call: shortenNames(call!), isDeath };
}

/** Consecutive steps of one process are one paragraph. */
function tellSteps(trace: readonly string[]): StoryLine[] {
  const lines: StoryLine[] = [];
  const nameProcess = createNames(trace);
  const names = trace.flatMap((line) => readStep(line)?.owner ?? []).map(nameProcess);
  const margin = names.reduce((longest, { length }) => Math.max(longest, length), 0) + 2;
  const indent = ' '.repeat(margin);
  let told = '';
  for (let at = 0; at < trace.length;) {
    const step = readStep(trace[at]!);
    if (step === undefined) {
      const text = tellEvent(trace[at]!);
      if (text !== undefined) lines.push({ at, text: `${indent}${text}` });
      at += 1;
      continue;
    }
    const steps: Step[] = [];
    for (let next = at; next < trace.length; next += 1) {
      const one = readStep(trace[next]!);
      if (one?.owner !== step.owner) break;
      steps.push(one);
      if (one.isDeath) break;
    }
    const name = told === step.owner ? '' : nameProcess(step.owner);
    told = step.owner;
    wrap(tellCalls(steps)).forEach((text, line) => {
      lines.push({ at, text: `${line === 0 ? name.padEnd(margin) : indent}${text}` });
    });
    at += steps.length;
    if (steps.at(-1)!.isDeath) told = '';
  }
  return lines;
}

/** Of an object's name what tells it from its neighbours; of a random id what tells it from others. */
function shortenNames(call: string): string {
  return call
    .replace(/\S+\/([^/\s]+\/[^/\s]+)/g, '…/$1')
    .replace(/[0-9a-f]{32}/g, (id) => id.slice(0, 6));
}

/** A fault, a finding, or what else somebody has noted; undefined for what is told elsewhere. */
function tellEvent(line: string): string | undefined {
  if (naming.test(line)) return undefined;
  const finding = readFindingMark(line);
  if (finding !== undefined) return `✗ ${finding}`;
  const note = shortenNames(line.trim());
  return /^(refused|reply-lost|corrupted|stale): /.test(note) ? `⚡ ${note}` : note;
}

function tellCalls(steps: readonly Step[]): string[] {
  const calls: string[] = [];
  for (let at = 0; at < steps.length; at += 1) {
    const { kind, call, isDeath } = steps[at]!;
    const next = steps[at + 1];
    if (isDeath) {
      calls.push(kind === 'before' ? `✝ before ${call}` : `✝ before it hears of ${call}`);
    } else if (kind === 'after') {
      calls.push(`… ${call}`);
    } else if (next?.kind === 'after' && next.call === call && !next.isDeath) {
      calls.push(call);
      at += 1;
    } else {
      calls.push(`${call} …`);
    }
  }
  return countRepeats(calls);
}

function countRepeats(calls: readonly string[]): string[] {
  const counted: { readonly call: string; times: number }[] = [];
  for (const call of calls) {
    const last = counted.at(-1);
    if (last?.call === call) last.times += 1;
    else counted.push({ call, times: 1 });
  }
  return counted.map(({ call, times }) => (times === 1 ? call : `${call} ×${times}`));
}

/** How a trace says what a process is there for: `  S2 is savepoint.cut`. */
const naming = /^ {2}(\S+) is (\S+)$/;

function createNames(trace: readonly string[]): (owner: string) => string {
  const told = new Map<string, string>();
  for (const line of trace) {
    const [, owner, what] = naming.exec(line) ?? [];
    if (owner !== undefined) told.set(owner, what!);
  }
  return (owner) => {
    // Of which job it is, where there are several.
    const [, job = '', letters, number] = /^(\S+:)?(\D+)(\d+)$/.exec(owner) ?? [];
    const kind = told.get(owner) ?? (letters === undefined ? undefined : processKinds[letters]);
    return kind === undefined ? owner : `${job}${kind} ${number}`;
  };
}

function wrap(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = `${last}, ${word}`;
    if (last === undefined || longer.length > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
