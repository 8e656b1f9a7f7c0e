import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { benches } from '../../bench/benches.ts';
import { contenders, type ContenderId } from '../../bench/peers/contenders.ts';
import { keyChoices } from '../../bench/peers/event-batches.ts';
import { findMissingPackages } from '../../bench/peers/peer-packages.ts';
import { projectRoot } from '../house/project-files.ts';

const root = mkdtempSync(path.join(tmpdir(), 'holdfast-bench-test-'));
const scratch = path.join(root, 'scratch');
const results = path.join(root, 'results');
mkdirSync(scratch);

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Starts the benches with a folder for their temporary files that is theirs alone. */
const start = (...args: string[]) => {
  const child = spawn(process.execPath, [path.join(projectRoot, 'bench/run.ts'), ...args], {
    env: { ...process.env, TMPDIR: scratch, TEMP: scratch, TMP: scratch, NO_COLOR: '1' },
  });
  const output = { out: '', err: '' };
  child.stdout.on('data', (part: Buffer) => (output.out += part.toString()));
  child.stderr.on('data', (part: Buffer) => (output.err += part.toString()));
  return { child, output, ended: once(child, 'close') };
};

const whatOf = (id: ContenderId) => contenders.find((one) => one.id === id)!.what;

const row = z.record(z.string(), z.union([z.string(), z.number().nonnegative()]));

const column = z.strictObject({
  field: z.string(),
  heading: z.string(),
  digits: z.int().positive().optional(),
});

const stored = z.strictObject({
  bench: z.string(),
  what: z.string(),
  isQuick: z.boolean(),
  measuredAt: z.iso.datetime(),
  machine: z.strictObject({
    node: z.string().startsWith('v'),
    platform: z.string(),
    cpu: z.string(),
    cores: z.int().positive(),
    memoryBytes: z.int().positive(),
  }),
  tables: z
    .array(
      z.strictObject({
        title: z.string(),
        columns: z.array(column),
        rows: z.array(row).nonempty(),
      }),
    )
    .nonempty(),
});

const readResults = (name: string) =>
  stored.parse(JSON.parse(readFileSync(path.join(results, `${name}.json`), 'utf8')));

const minutes = 60_000;

describe('the quick benches', () => {
  let code: unknown;
  let run: ReturnType<typeof start>;

  beforeAll(async () => {
    run = start('--quick', '--results', results);
    [code] = (await run.ended) as [unknown];
  }, 20 * minutes);

  it('all run', () => {
    expect({ code, err: run.output.err }).toMatchObject({ code: 0 });
    expect(readdirSync(results).sort()).toEqual(benches.map(({ name }) => `${name}.json`).sort());
  });

  it.each(benches)('leave the results of $name as they print them', ({ name, what }) => {
    const { tables, ...head } = readResults(name);
    expect(head).toMatchObject({ bench: name, what, isQuick: true });
    for (const { title } of tables) expect(run.output.out).toContain(title);
  });

  it('leave nothing else behind', () => {
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('measure every step of a large state with every key, in less than 512 MB', () => {
    const [ratios, figures] = readResults('state-2gb').tables as [Table, Table];
    expect(ratios.rows.map(({ step, isAllowed }) => [step, isAllowed])).toEqual(
      [1, 2].flatMap(() => [
        ['compact', 'yes'],
        ['verify', 'yes'],
        ['load', 'yes'],
      ]),
    );
    for (const { keys, startRssMegabytes, peakRssMegabytes } of figures.rows) {
      expect([1_000, 4_000]).toContain(keys);
      expect(peakRssMegabytes).toBeGreaterThan(startRssMegabytes as number);
      expect(peakRssMegabytes).toBeLessThan(512);
    }
  });

  it('run every event of a record loop with its key warm', () => {
    const [shares, figures] = readResults('record-loop').tables as [Table, Table];
    expect(shares.rows.map(({ state }) => state)).toEqual(['aggregating', 'windows']);
    for (const { ofStateFloor, keysWrittenPerEvent, cacheHitPercent } of shares.rows) {
      expect(ofStateFloor).toBeGreaterThan(0);
      expect(keysWrittenPerEvent).toBeGreaterThan(0);
      expect(keysWrittenPerEvent).toBeLessThan(1);
      expect(cacheHitPercent).toBe(100);
    }
    for (const { eventsPerSecond } of figures.rows) expect(eventsPerSecond).toBeGreaterThan(0);
  });

  it('write 25 keys with a request, and read none while the cache is warm', () => {
    const [states, all] = readResults('unit-requests').tables as [Table, Table];
    const [warm, cold] = states.rows as [Table['rows'][0], Table['rows'][0]];
    expect(warm).toMatchObject({
      cache: 'warm',
      keysPerWrite: 25,
      stateReads: 0,
      stateReadUnits: 0,
    });
    expect(warm).toMatchObject({ stateWrites: 10, stateWriteUnits: 250 });
    expect(cold).toMatchObject({
      cache: 'cold',
      keysPerWrite: 25,
      stateReads: 5,
      stateReadUnits: 250,
    });
    // 50 keys of 200 events: two requests for states and two for rows; progress is read once and written once.
    expect(all.rows[0]).toMatchObject({ dynamodbRequests: 30, writeUnits: 505, readUnits: 5 });
    expect(all.rows[0]).toMatchObject({ s3Requests: 5 });
  });

  it('load every function that is deployed, with clients of AWS alone that it uses', () => {
    const [functions] = readResults('cold-start').tables as [Table];
    const deployed = readdirSync(path.join(projectRoot, 'functions'));
    expect(functions.rows.map((row) => row['function']).sort()).toEqual(deployed.sort());
    for (const { importMs, bundleKilobytes } of functions.rows) {
      expect(importMs).toBeGreaterThan(0);
      expect(bundleKilobytes).toBeLessThan(1_049);
    }
    const heartbeat = functions.rows.find((row) => row['function'] === 'heartbeat');
    expect(heartbeat?.['clients']).toMatch(/^kinesis \d+ KB$/);
  });

  it('find a checkpoint’s requests to be the same for ten times the state', () => {
    const [ratios, sizes, shares] = readResults('checkpoint').tables as [Table, Table, Table];
    expect(ratios.rows[0]).toEqual({
      what: 'requests of a checkpoint with 10 × the state',
      ratio: 1,
    });
    const [small, large] = sizes.rows as [Table['rows'][0], Table['rows'][0]];
    expect(large['fullBytes']).toBeGreaterThan(8 * (small['fullBytes'] as number));
    // What is touched is uploaded, and no more of it.
    const uploaded = shares.rows.map(({ incrementalOfFull }) => incrementalOfFull as number);
    expect(uploaded).toEqual(uploaded.toSorted((a, b) => a - b));
    expect(uploaded[0]).toBeLessThan(0.1);
    expect(uploaded.at(-1)).toBeGreaterThan(0.9);
  });

  it('measure every contender whose packages are there, once each event, and tell of the others', () => {
    const [, figures, promises] = readResults('peers').tables as [Table, Table, Table];
    const areMissing = findMissingPackages().length > 0;
    const expected = contenders.filter(({ isForeign }) => !isForeign || !areMissing);
    for (const keys of keyChoices) {
      const measured = figures.rows.filter((row) => row['keys'] === keys);
      expect(measured.map(({ contender }) => contender)).toEqual(expected.map(({ what }) => what));
      const update = measured.find(({ contender }) => contender === whatOf('update'));
      expect(update).toMatchObject({ requests: 1_000, writeUnits: 1_000 });
      const [state, changelog, rows] = (['state', 'changelog', 'rows'] as const).map((parts) =>
        measured.find(({ contender }) => contender === whatOf(`holdfast-${parts}`))!,
      );
      // An item for each key of a batch; then progress; then a row for each key.
      const written = state!['writeUnits'] as number;
      expect(written).toBeLessThan(1_000);
      expect(state!['readUnits']).toBe(0);
      expect(changelog!['writeUnits']).toBe(written + 10);
      expect(rows!['writeUnits']).toBe(2 * written + 10);
    }
    const counts = new Map(promises.rows.map((row) => [row['contender'], row]));
    expect(counts.get(whatOf('update'))).toMatchObject({ repeated: 'twice', recut: 'twice' });
    const all = { repeated: 'once', recut: 'once' };
    expect(counts.get(whatOf('holdfast-rows'))).toMatchObject(all);
    const none = { repeated: 'not installed', recut: 'not installed' };
    expect(counts.get(whatOf('powertools'))).toMatchObject(areMissing ? none : all);
    expect(counts.get(whatOf('restate-key'))).toMatchObject(
      areMissing ? none : { repeated: 'once', recut: 'twice' },
    );
    if (areMissing) expect(run.output.err).toContain('npm ci --prefix bench/peers');
  });

  it('find a recovery’s requests to be the same for ten times the state', () => {
    const [ratios, sizes] = readResults('recovery').tables as [Table, Table];
    expect(ratios.rows.slice(0, 2)).toEqual([
      { what: 'requests with 10 × the state', ratio: 1 },
      { what: 'read units with 10 × the state', ratio: 1 },
    ]);
    // Progress, a suspicion or two, and the 100 keys of the batch.
    for (const { readUnits } of sizes.rows) {
      expect(readUnits).toBeGreaterThanOrEqual(101);
      expect(readUnits).toBeLessThan(110);
    }
  });

  it('count the requests that the model says, whatever the shards', () => {
    const [model] = readResults('scale').tables as [Table];
    expect(model.rows.map(({ unitRatio, tickRatio }) => [unitRatio, tickRatio])).toEqual(
      model.rows.map(() => [1, 1]),
    );
  });
});

type Table = z.output<typeof stored>['tables'][0];

describe('the benches', () => {
  it(
    'leave nothing behind when they are interrupted, nor any process',
    async () => {
      const { child, output, ended } = start('state-2gb', '--quick');
      while (!output.err.includes('round 1')) await once(child.stderr, 'data');
      expect(readdirSync(scratch)).toHaveLength(1);
      child.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
      expect(readdirSync(scratch)).toEqual([]);
      expect(output.out).toBe('');
    },
    5 * minutes,
  );

  it('are refused under names that there are not', async () => {
    const { output, ended } = start('state-2tb');
    expect(await ended).toEqual([1, null]);
    expect(output.err).toContain(
      `there is no bench state-2tb; there are ${benches.map(({ name }) => name).join(', ')}`,
    );
  }, 60_000);
});
