import { isDeepStrictEqual } from 'node:util';
import type { RandomSource } from '../../../shared/core/random.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';
import type { Window } from '../../../shared/operator/windows/window-assigner.ts';
import { summingOperator } from '../../unit/operator/windows/summing-operator.ts';
import { chance, pick } from '../engine/gate.ts';
import { countReshardings } from '../engine/count-reshardings.ts';
import { deliverRandomly, drawFocus, type DeliveryPlan } from '../data-path/random-delivery.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { drawWindowPlan, windowKinds, type WindowPlan } from './window-plan.ts';
import {
  createWindowsWorld,
  deliverStraight,
  tellTables,
  type WindowsWorld,
} from './windows-world.ts';

interface ResultRow extends Window {
  readonly kind: string;
  readonly sum: number;
  readonly replaces: readonly Window[];
}

interface LateRow {
  readonly ts: number;
  readonly value: number;
  readonly missed: readonly Window[];
}

/*
 * Windows over the real runtime. Three runs of the same events:
 *
 *   one shard, straight      must give what the operator gives in the test driver, row by row
 *   resharded, straight      must give the same windows as one shard, see below
 *   resharded, badly         must give the tables of the straight run over the same shards, byte by byte
 *
 * Ids hold positions, and watermarks are those of a shard: over other shards they differ, and so does everything that only
 * says when something was told. What may not depend on the shards: which windows a key comes to in the end and what is in
 * them; that each fires once; that no event is late which is not late in one shard (no shard knows more of time than all
 * together); and that each event counts once, in its windows or as late for them.
 */
export async function simulateWindows(random: RandomSource): Promise<SimulationRun> {
  const kind = windowKinds[pick(random, windowKinds.length)]!;
  const plan = drawWindowPlan(kind, random);
  const one = await createWindowsWorld(plan, 'one shard');
  const straight = await createWindowsWorld(plan, 'planned');
  const bad = await createWindowsWorld(plan, 'planned');
  await deliverStraight(one);
  await deliverStraight(straight);
  const delivery = await deliverRandomly(bad, drawDelivery(random), random);

  const findings = [...one.findings, ...straight.findings, ...bad.findings];
  if (!delivery.isDone) findings.push('the run did not come to an end');
  findings.push(...compareTables(bad, straight), ...compareWithDriver(one, plan));
  for (const world of [one, straight]) findings.push(...checkCounts(world, plan));
  findings.push(...checkLate(one, plan));
  findings.push(...compareShardings(straight, one, plan));
  const { trace, strikes } = delivery;
  const events = new Map([
    ...delivery.events,
    ...countReshardings(straight.stream),
    [`runs of ${kind} windows`, 1],
    ['rows of windows', straight.sinks.results.rows().length],
    ['late rows', straight.sinks.late.rows().length],
  ]);
  return { findings, trace, strikes, events };
}

function drawDelivery(random: RandomSource): DeliveryPlan {
  const sometimes = (probability: number, value: number): number =>
    chance(random, probability) ? value : 0;
  return {
    killProbability: sometimes(0.7, 0.04),
    ...drawFocus(random),
    faultProbability: sometimes(0.6, 0.06),
    zombieProbability: sometimes(0.7, 0.02),
    hasteProbability: chance(random, 0.3) ? 0.6 : 0.1,
    firingKeysMax: chance(random, 0.3) ? 1 : 2000,
    flavours: Array.from({ length: 2 + pick(random, 3) }, () => ''),
  };
}

function compareTables(bad: WindowsWorld, straight: WindowsWorld): string[] {
  const expected = tellTables(straight);
  return Object.entries(tellTables(bad)).flatMap(([name, rows]) => {
    const wanted = expected[name]!;
    const missing = wanted.filter((row) => !rows.includes(row));
    const extra = rows.filter((row) => !wanted.includes(row));
    if (missing.length + extra.length === 0 && rows.length === wanted.length) return [];
    return [`${name}: missing ${missing.join(' ')}, but there are ${extra.join(' ')}`];
  });
}

/** The runtime over one shard and the driver that users test with tell the same of each key, in the same order. */
function compareWithDriver(world: WindowsWorld, plan: WindowPlan): string[] {
  const driver = createOperatorDriver(summingOperator(plan.options), { determinism: 'off' });
  for (const step of plan.steps) {
    if (step.kind === 'event') driver.send(step.event);
    if (step.kind === 'heartbeat') driver.advanceWatermark(step.at);
  }
  return (['results', 'late'] as const).flatMap((sink) => {
    const rows = world.sinks[sink].rows();
    return keysOf(plan).flatMap((key) => {
      const told = rows.filter((row) => row.key === key).map(({ value }) => value);
      const driven = driver
        .outputs(sink)
        .filter((output) => output.key === key)
        .map(({ row }) => row);
      if (isDeepStrictEqual(told, driven)) return [];
      return [
        `${sink} of ${key}: ${JSON.stringify(told)}, by the driver ${JSON.stringify(driven)}`,
      ];
    });
  });
}

/** Each event is in each of its windows once, in the last result for it or as late; no window fires twice, or stays. */
function checkCounts(world: WindowsWorld, plan: WindowPlan): string[] {
  const findings = keysOf(plan).flatMap((key) => {
    const finals = finalsOf(world, key);
    if (new Set(finals.map(nameWindow)).size === finals.length) return [];
    return [`${key}: a window has fired twice: ${JSON.stringify(finals)}`];
  });
  if (!plan.isFlushed) return findings;
  for (const key of keysOf(plan)) {
    const counted = lastResults(world, key).reduce((total, { sum }) => total + sum, 0);
    const late = lateOf(world, key).reduce((sum, one) => sum + one.value * one.missed.length, 0);
    const put = eventsOf(plan)
      .filter(({ event }) => event.key === key)
      .reduce((sum, { event }) => sum + event.value * windowsOf(plan, event.ts).length, 0);
    if (counted + late === put) continue;
    findings.push(`${key}: ${counted} counted and ${late} late of ${put}`);
  }
  for (const { item } of world.state.rows()) {
    if (item.states !== undefined)
      findings.push(`${item.key} has state after the end of the stream`);
  }
  return findings;
}

/** In one shard an event is late for exactly those windows whose lateness the watermark has passed, its own time included. */
function checkLate(one: WindowsWorld, plan: WindowPlan): string[] {
  if (plan.options.window.kind === 'session') return [];
  const { allowedLatenessMs = 0 } = plan.options;
  const expected = eventsOf(plan).flatMap(({ event, watermark }) => {
    const missed = windowsOf(plan, event.ts).filter(
      ({ end }) => end + allowedLatenessMs <= watermark,
    );
    return nameMisses({ ...event, missed });
  });
  const late = keysOf(plan).flatMap((key) => lateOf(one, key).flatMap(nameMisses));
  if (isDeepStrictEqual(late.sort(), expected.sort())) return [];
  return [`late: ${late.join(', ')}; expected ${expected.join(', ')}`];
}

/** The events that go into windows, with the watermark of one shard behind each. */
function eventsOf({ steps, options }: WindowPlan) {
  let watermark = -Infinity;
  return steps.flatMap((step) => {
    if (step.kind === 'heartbeat') watermark = Math.max(watermark, step.at);
    if (step.kind !== 'event') return [];
    watermark = Math.max(watermark, step.event.ts - (options.outOfOrdernessMs ?? 0));
    return step.event.isLast === true ? [] : [{ event: step.event, watermark }];
  });
}

/** The windows of an event, found by trying every start around it; of a session, the one that it would have alone. */
function windowsOf({ options: { window } }: WindowPlan, time: number): Window[] {
  if (window.kind === 'session') return [{ start: time, end: time + window.gapMs }];
  const { sizeMs } = window;
  const stepMs = window.kind === 'sliding' ? window.slideMs : sizeMs;
  const offsetMs = window.kind === 'sliding' ? 0 : window.offsetMs;
  const starts = Array.from({ length: 2 * sizeMs }, (_, at) => time - sizeMs + at);
  return starts
    .filter((start) => Number.isInteger((start - offsetMs) / stepMs))
    .filter((start) => start <= time && time < start + sizeMs)
    .map((start) => ({ start, end: start + sizeMs }));
}

function compareShardings(many: WindowsWorld, one: WindowsWorld, plan: WindowPlan): string[] {
  return keysOf(plan).flatMap((key) => {
    const findings: string[] = [];
    const expect = (what: string, actual: unknown, expected: unknown): void => {
      if (isDeepStrictEqual(actual, expected)) return;
      findings.push(
        `${what} of ${key}: ${JSON.stringify(actual)}, in one shard ${JSON.stringify(expected)}`,
      );
    };
    const known = new Set(lateOf(one, key).flatMap(nameMisses));
    const late = lateOf(many, key).flatMap(nameMisses);
    expect(
      'events that are late only here',
      late.filter((name) => !known.has(name)),
      [],
    );
    if (!plan.isOnTime) return findings;
    expect('late events', late, []);
    if (!plan.isFlushed) return findings;
    expect(
      'windows',
      finalsOf(many, key).map(nameWindow).sort(),
      finalsOf(one, key).map(nameWindow).sort(),
    );
    expect(
      'last results',
      lastResults(many, key).map(nameSum).sort(),
      lastResults(one, key).map(nameSum).sort(),
    );
    if (plan.options.early?.kind === 'time') return findings;
    // Early results by the number of events do not depend on the watermark.
    expect('early results', earlyOf(many, key), earlyOf(one, key));
    return findings;
  });
}

function keysOf({ steps }: WindowPlan): string[] {
  return [...new Set(steps.flatMap((step) => (step.kind === 'event' ? [step.key] : [])))];
}

/** A key's results in the order in which they came: parents before children, then by position. */
function resultsOf({ sinks }: WindowsWorld, key: string): ResultRow[] {
  const rows = sinks.results.rows().filter((row) => row.key === key);
  return rows.map(({ value }) => value as ResultRow);
}

function lateOf({ sinks }: WindowsWorld, key: string): LateRow[] {
  const rows = sinks.late.rows().filter((row) => row.key === key);
  return rows.map(({ value }) => value as LateRow);
}

function finalsOf(world: WindowsWorld, key: string): ResultRow[] {
  return resultsOf(world, key).filter(({ kind }) => kind === 'fire' || kind === 'flush');
}

function earlyOf(world: WindowsWorld, key: string): string[] {
  return resultsOf(world, key)
    .filter(({ kind }) => kind === 'early')
    .map(nameSum);
}

/** What a reader has who takes each result for its window and drops those that it replaces. */
function lastResults(world: WindowsWorld, key: string): ResultRow[] {
  const last = new Map<string, ResultRow>();
  for (const row of resultsOf(world, key)) {
    for (const replaced of row.replaces) last.delete(nameWindow(replaced));
    last.set(nameWindow(row), row);
  }
  return [...last.values()];
}

function nameWindow({ start, end }: Window): string {
  return `[${start}, ${end})`;
}

function nameSum(row: ResultRow): string {
  return `${nameWindow(row)} = ${row.sum}`;
}

function nameMisses({ ts, value, missed }: LateRow): string[] {
  return missed.map((window) => `${value} at ${ts} for ${nameWindow(window)}`);
}
