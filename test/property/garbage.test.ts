import { afterAll, describe, expect, it } from 'vitest';
import { channelId } from '../../shared/core/channel.ts';
import type { Manifest } from '../../shared/core/manifest.ts';
import { decodeBase } from '../../shared/core/manifest-codec.ts';
import type { ManifestReference } from '../../shared/core/registry.ts';
import { changeRegistry, readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import { chooseEverything, compactNow, keepNewest } from '../unit/runtime/checkpoint/upkeep.ts';
import { collectGarbage } from '../../shared/runtime/checkpoint/collect-garbage.ts';
import { readManifest, registerPending } from '../../shared/runtime/checkpoint/take-manifest.ts';
import {
  completionName,
  parseObjectName,
  segmentName,
  type ObjectIdentity,
} from '../../shared/runtime/object-names.ts';
import { readReservation } from '../../shared/runtime/restore/reservation.ts';
import { createHistory, mergePlainly, type History } from '../unit/runtime/checkpoint/history.ts';
import { jobName } from '../unit/runtime/job-fixture.ts';
import { Death, makeMortal } from '../unit/runtime/restore/mortal-ports.ts';

const seeds = Array.from({ length: 30 }, (_, at) => `garbage ${at}`);

/** What the histories had in them. */
const seen = { deleted: 0, deaths: 0, restores: 0, undone: 0, savepoints: 0, expired: 0, pins: 0 };

const options = { graceMs: 0, dryRun: false };

const happen = async (history: History): Promise<void> => {
  for (let event = 0; event < 4; event += 1) {
    history.put();
    for (let reads = history.upTo(5); reads > 0; reads -= 1) await history.read();
    if (history.chance(0.08) && history.job.stream.shards().length < 6) history.split();
  }
};

/** Collects, as often dying on the way as not. */
const collect = async (history: History): Promise<void> => {
  const { ports, chance, upTo } = history;
  const before = history.job.objects.objects().size;
  if (chance(0.5)) {
    const mortal = makeMortal(ports, 1 + upTo(60), chance(0.5) ? 'before' : 'after');
    const namesAtOnce = 1 + upTo(200);
    await collectGarbage(mortal.ports, { ...options, namesAtOnce }).catch((thrown: unknown) => {
      if (!(thrown instanceof Death)) throw thrown;
      seen.deaths += 1;
    });
  }
  const report = await collectGarbage(ports, { ...options, namesAtOnce: 20 + upTo(400) });
  seen.expired += report.expired.length;
  seen.deleted += before - history.job.objects.objects().size;
};

/** Whatever a user may come back to: what it loads, as text. */
const loadAll = async ({ ports }: History): Promise<Map<string, unknown>> => {
  const { complete, pins } = await readRegistry(ports);
  const loaded = new Map<string, unknown>();
  for (const { object } of [...complete, ...pins]) {
    loaded.set(object, await mergePlainly(ports.objects, await readManifest(ports, object)));
  }
  return loaded;
};

const choose = async (history: History): Promise<ManifestReference | undefined> => {
  const { complete } = await readRegistry(history.ports);
  return complete[history.upTo(complete.length)];
};

/** One of the things that people and schedules do to a job. */
const tend = async (history: History): Promise<void> => {
  const { ports, chance, upTo } = history;
  if (chance(0.5)) await compactNow(history, upTo(3));
  if (chance(0.15)) {
    await history.readAll();
    await history.savepoint(`s${String(history.random()).slice(2)}`);
    seen.savepoints += 1;
  }
  if (chance(0.5)) await keepNewest(ports, 1 + upTo(3));
  if (chance(0.3)) {
    const some = await choose(history);
    const pin = { object: some!.object, id: ports.system.randomId(), owner: 'test', sinceMs: 0 };
    await changeRegistry(ports, (there) => ({ ...there, pins: [pin] }));
    seen.pins += 1;
  }
  if (chance(0.2)) {
    const generation = (await ports.control.readJob(jobName))!.generation;
    await registerPending(ports, { kind: 'checkpoint', generation, label: '', timeoutMs: 1000 });
  }
  if (chance(0.5)) history.job.system.advance(2000);
  // One is enough for what is collected here; a second one comes at the end.
  const { timeline } = (await ports.control.readJob(jobName))!;
  if (chance(0.3) && timeline.length === 0) {
    await history.restore((await choose(history))!.object, { acceptsGaps: true });
    seen.restores += 1;
  }
};

const expectStraightRun = async (history: History): Promise<void> => {
  await history.readAll();
  for (const [user, entries] of history.expected()) {
    expect(history.job.entriesOf(user)).toEqual(entries);
  }
};

describe('garbage collection', () => {
  it.each(seeds)(
    'takes nothing that a manifest, a pin, the job or an undo needs, %s',
    async (seed) => {
      const history = await createHistory(seed);
      for (let round = 0; round < 6; round += 1) {
        await happen(history);
        await history.checkpoint();
        await tend(history);
        const before = await loadAll(history);
        await collect(history);
        expect(await loadAll(history)).toEqual(before);
      }
      await expectStraightRun(history);
      // There and back again: a restore voids what the undo has to bring back.
      const back = (await choose(history))!;
      await history.restore(back.object, { acceptsGaps: true });
      await happen(history);
      await collect(history);
      const undo = (await readRegistry(history.ports)).complete.findLast(
        ({ kind }) => kind === 'undo',
      )!;
      await history.restore(undo.object, { acceptsGaps: true });
      seen.undone += 1;
      await expectStraightRun(history);
    },
    60_000,
  );

  it.each(seeds)(
    'leaves nothing behind that nobody needs, %s',
    async (seed) => {
      const history = await createHistory(`rest ${seed}`);
      const { ports } = history;
      for (let round = 0; round < 4; round += 1) {
        await happen(history);
        await history.checkpoint();
        await tend(history);
        await collect(history);
      }
      await history.readAll();
      history.job.system.advance(24 * 3600 * 1000);
      await history.checkpoint();
      await compactNow(history, chooseEverything);
      const { manifest } = await history.checkpoint();
      await changeRegistry(ports, (there) => ({
        ...there,
        pins: [],
        complete: there.complete.slice(-1),
      }));
      await collectGarbage(ports, options);
      await expectOnlyNeeded(history, manifest);
    },
    60_000,
  );

  afterAll(() => {
    for (const [what, count] of Object.entries(seen)) {
      expect(count, `no history had any ${what}`).toBeGreaterThan(5);
    }
  });
});

/** With one manifest left, every object is of it, of its base, or of the generations' history. */
async function expectOnlyNeeded({ ports }: History, manifest: Manifest): Promise<void> {
  const { objects, job } = ports;
  const registry = await readRegistry(ports);
  const [newest] = registry.complete;
  const needed = new Set([registry.base!.object, newest!.object, completionName(job, newest!)]);
  const { generation } = manifest;
  const reservations = await Promise.all(
    Array.from({ length: generation }, (_, at) => readReservation(ports, at + 1)),
  );
  const bases = [registry.base!.object];
  for (const reservation of reservations) {
    if (reservation?.generation !== generation) continue;
    bases.push(reservation.base);
    needed.add(reservation.base);
  }
  const origins = new Set(reservations.map((reservation) => reservation?.manifest));
  for (const name of bases) {
    const { runs } = decodeBase((await objects.read(name))!, name, { job });
    for (const file of runs.flatMap(({ files }) => files)) needed.add(file.name);
  }
  for (const file of manifest.runs.flatMap(({ files }) => files)) needed.add(file.name);
  const heads = new Map<string, number>();
  for (const { channel, progress, segments } of manifest.channels) {
    heads.set(channelId(channel), progress.head?.number ?? 0);
    const read = progress.head === undefined ? segments : [...segments, progress.head];
    for (const segment of read) {
      needed.add(segmentName(job, generation, channelId(channel), segment));
    }
  }
  const isToCome = (identity: ObjectIdentity): boolean =>
    (identity.kind === 'segment' || identity.kind === 'spill') &&
    identity.generation === generation &&
    identity.number > (heads.get(identity.channelId) ?? 0);
  for await (const name of objects.list(`jobs/${job}/`)) {
    const identity = parseObjectName(job, name);
    if (identity.kind === 'job-marker' || identity.kind === 'reservation') continue;
    if (needed.has(name) || origins.has(name)) continue;
    expect(isToCome(identity), `${name} is left`).toBe(true);
  }
}
