import { isDeepStrictEqual } from 'node:util';
import type { MemorySinkRow } from '../../../shared/adapters/memory/memory-sink.ts';
import { isPast, type Position } from '../../../shared/core/position.ts';
import { decodeStates } from '../../../shared/operator/key-state.ts';
import { auditEnd } from '../engine/audit.ts';
import { withoutFlavour } from '../engine/ledger.ts';
import { tellStory, type Chapter } from '../engine/story.ts';
import { findCounted } from './counted-rows.ts';
import { readRule, viewOf, type Stores } from './stores.ts';

/* What must hold of the rows in the sinks, by the row rule: each that should count does, once, and no other (R10, R11, R12). */

/** Of what progress covers, every appended row counts once, whether or not anything has been swept. */
export async function auditRows(
  stores: Stores,
  generation: number,
  when: string,
): Promise<string[]> {
  const rule = await readRule(stores, generation);
  const counted = await findCounted(stores, generation);
  const cuts = new Map<string, Position | undefined>();
  for (const { channel, progress } of stores.control.progressRows()) {
    if (progress.generation === generation) cuts.set(channel.shardId, progress.position);
  }
  const isCovered = (shardId: string, position: Position): boolean =>
    cuts.has(shardId) && !isPast(position, cuts.get(shardId) ?? { sequence: '0', sub: 0 });
  const { journal } = viewOf(stores, generation, rule).sinks;
  const findings: string[] = [];
  for (const [key, chapters] of tellStory(stores.stream, stores.entries)) {
    const covered = chapters.filter(({ shardId, position }) => isCovered(shardId, position));
    const told = listTold(stores, generation, key, covered);
    const expected = (told ?? covered.map((chapter) => chapter.journal)).flatMap((rows, at) =>
      counted.journal(key, covered[at]!) ? rows : [],
    );
    const actual = journal
      .rows()
      .filter((row) => row.key === key && isCovered(shardOf(row), row.position))
      .map(({ value }) => historyIn(value))
      .map((history) => (told === undefined ? withoutFlavour(history) : history));
    if (isDeepStrictEqual(actual, expected)) continue;
    findings.push(
      `${when}: of ${key} count ${actual.join(' ') || 'no rows'}, expected ${expected.join(' ')}`,
    );
  }
  return findings;
}

/** What must hold of states, views and rows at the end. */
export async function auditTables(stores: Stores, generation: number): Promise<string[]> {
  const view = viewOf(stores, generation, await readRule(stores, generation));
  if (stores.isQuiet === undefined) {
    return auditEnd(view, await findCounted(stores, generation));
  }
  const findings = await auditRows(stores, generation, 'end');
  for (const [key, chapters] of tellStory(stores.stream, stores.entries)) {
    const last = listTold(stores, generation, key, chapters)?.flat().at(-1);
    const shown = view.sinks.balance.rows().find((row) => row.key === key);
    const balance = shown === undefined ? undefined : historyIn(shown.value);
    if (balance !== last) findings.push(`end: the view of ${key} is ${balance}, expected ${last}`);
  }
  return findings;
}

/**
 * With other logic: for each of some chapters of a key, the histories that were told of it. Which code has made it its state says,
 * and that decides whether there is a row.
 */
function listTold(
  { isQuiet, operator, state }: Stores,
  generation: number,
  key: string,
  chapters: readonly Chapter[],
): string[][] | undefined {
  if (isQuiet === undefined) return undefined;
  const item = state
    .rows()
    .find((row) => row.scope.generation === generation && row.item.key === key)?.item;
  const history = item?.states === undefined ? '' : decodeStates(operator, item.states, key)[0];
  const steps = String(history).match(/[/!][^/!]*/g) ?? [];
  let sum = '';
  return chapters.map(({ isDeadLetter }) => {
    const step = isDeadLetter ? undefined : steps.shift();
    if (step === undefined) return [];
    sum += step;
    const id = Number(/^\/(\d+)~/.exec(step)?.[1] ?? '1');
    const flavour = /[A-Z]$/.exec(step)?.[0] ?? '';
    return isQuiet(flavour, id) ? [] : [sum];
  });
}

function historyIn(value: unknown): string {
  return (value as { history: string }).history;
}

function shardOf({ source }: MemorySinkRow): string {
  return source.channel.slice(source.channel.lastIndexOf('/') + 1);
}
