import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import { isHoldfastError } from '../../shared/core/errors.ts';
import { hashKey } from '../../shared/core/key-group.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';
import { timersPerKeyMax, timerTimeMax, type Timer } from '../../shared/core/timer.ts';
import type { ItemKey, StateScope, StateStore } from '../../shared/ports/state-store.ts';

export interface StateStoreUnderTest {
  readonly store: StateStore;
  /** When an item may be collected, s since the epoch, as the store keeps it. */
  readonly readExpiry: (scope: StateScope, key: ItemKey) => Promise<number | undefined>;
}

const step = { keyHash: hashKey('alice'), key: 'alice', time: 1_735_689_600_000, name: 'e:close' };

const sequence = '49590338271490256608559692538361571095921575989136588898';

function freshScope(): StateScope {
  return { job: `job-${randomUUID()}`, generation: 1, operator: 'sessions' };
}

export function makeItem(overrides: Partial<StoredItem> = {}): StoredItem {
  return {
    key: 'alice',
    keyGroup: 7,
    version: 1_000,
    position: { sequence, sub: 3 },
    arrivalMs: 1_735_689_600_123,
    states: new Uint8Array([1, 2, 3]),
    emissions: undefined,
    spills: [],
    timers: [],
    ...overrides,
  };
}

function make(count: number, overrides: Partial<StoredItem> = {}): StoredItem[] {
  return Array.from({ length: count }, (_, at) =>
    makeItem({ key: `key-${at}`, keyGroup: at % 5, ...overrides }),
  );
}

/** Bytes as plain arrays, so that the kind of array does not matter. */
function plain(items: Iterable<StoredItem>): unknown[] {
  return [...items]
    .map((item) => ({
      ...item,
      states: item.states && [...item.states],
      emissions: item.emissions && [...item.emissions],
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

export function describeStateStore(name: string, open: () => Promise<StateStoreUnderTest>): void {
  describe(`state store: ${name}`, () => {
    let store: StateStore;
    let readExpiry: StateStoreUnderTest['readExpiry'];

    beforeAll(async () => {
      ({ store, readExpiry } = await open());
    });

    const create = (scope: StateScope, items: readonly StoredItem[]) =>
      store.write(
        scope,
        items.map((item) => ({ item, expectedVersion: undefined })),
      );
    const load = async (scope: StateScope, keys: readonly ItemKey[]) =>
      plain((await store.load(scope, keys)).values());

    const scan = async (scope: StateScope, keyGroup: number) => {
      const items: StoredItem[] = [];
      for await (const item of store.scan(scope, keyGroup)) items.push(item);
      return plain(items);
    };

    it('gives back every field of an item as it was written', async () => {
      const scope = freshScope();
      const items = [
        makeItem({ key: 'plain' }),
        makeItem({ key: 'tombstone', states: undefined }),
        makeItem({ key: 'outbox', emissions: new Uint8Array([9, 8]) }),
        makeItem({ key: 'naïve key / with # and ☃ 🦊', version: 2 ** 40 + 17 }),
        makeItem({ key: 'start', position: { sequence: '1', sub: 0 }, keyGroup: 32_767 }),
        makeItem({ key: 'x'.repeat(256) }),
        makeItem({
          key: 'spilled',
          spills: [
            { name: 'a/b', bytes: 70_000, crc: 4_294_967_295, last: { sequence, sub: 0 } },
            { name: 'a/c', bytes: 1, crc: 0, last: { sequence, sub: 9, step } },
          ],
        }),
        makeItem({ key: 'fired', position: { sequence, sub: 3, step } }),
        makeItem({
          key: 'waiting',
          timers: [
            { domain: 'event', time: -timerTimeMax, name: 'first' },
            { domain: 'arrival', time: 0, name: 'window:1_a-B' },
            { domain: 'event', time: 1_735_689_600_001, name: 'n'.repeat(120) },
            { domain: 'arrival', time: timerTimeMax, name: 'last' },
          ],
        }),
        makeItem({
          key: 'waiting tombstone',
          states: undefined,
          timers: [{ domain: 'event', time: 5, name: 'x' }],
        }),
      ];
      expect(await create(scope, items)).toEqual(items.map(() => 'written'));
      expect(await load(scope, items)).toEqual(plain(items));
    });

    it('shows every acknowledged item of a key group, tombstones too, and no others', async () => {
      const scope = freshScope();
      const items = make(300);
      await create(scope, items);
      await create(scope, [makeItem({ key: 'gone', keyGroup: 3, states: undefined })]);
      await create({ ...scope, generation: 2 }, [makeItem({ key: 'other', keyGroup: 3 })]);
      const group = items.filter(({ keyGroup }) => keyGroup === 3);
      expect(await scan(scope, 3)).toEqual(
        plain([...group, makeItem({ key: 'gone', keyGroup: 3, states: undefined })]),
      );
      expect(await scan(scope, 30)).toEqual([]);
      expect(await scan({ ...scope, operator: 'totals' }, 3)).toEqual([]);
    });

    it('looks through a key group that does not fit into one page', async () => {
      const scope = freshScope();
      const items = make(8).map((item, at) => ({
        ...item,
        keyGroup: 4,
        states: new Uint8Array(300 * 1024).fill(at),
      }));
      for (const item of items) await create(scope, [item]);
      const seen = new Map<string, number | undefined>();
      for await (const { key, states } of store.scan(scope, 4)) seen.set(key, states?.[0]);
      expect([...seen].sort()).toEqual(items.map(({ key }, at) => [key, at]));
    });

    it('removes items for good, whatever they hold', async () => {
      const scope = freshScope();
      const items = make(60);
      await create(scope, items);
      const other = { ...scope, generation: 2 };
      await create(other, items);
      await store.remove(scope, [...items.slice(0, 50), ...items.slice(0, 3)]);
      await store.remove(scope, items.slice(0, 50));
      await store.remove(scope, []);
      expect(await load(scope, items)).toEqual(plain(items.slice(50)));
      expect(await load(other, items)).toEqual(plain(items));
      expect(await create(scope, items.slice(0, 1))).toEqual(['written']);
    });

    it('keeps an item of the largest size', async () => {
      const scope = freshScope();
      const states = new Uint8Array(380 * 1024).fill(7);
      expect(await create(scope, [makeItem({ states })])).toEqual(['written']);
      const loaded = await store.load(scope, [makeItem()]);
      expect(Buffer.compare(loaded.get('alice')?.states ?? new Uint8Array(), states)).toBe(0);
    });

    it('keeps as many timers as an item has room for', async () => {
      const scope = freshScope();
      const timers = Array.from({ length: timersPerKeyMax }, (_, at): Timer => ({
        domain: at % 2 === 0 ? 'event' : 'arrival',
        time: 1_735_689_600_000 + at,
        name: `window:${at}`,
      }));
      const item = makeItem({ timers });
      expect(await create(scope, [item])).toEqual(['written']);
      expect(await load(scope, [item])).toEqual(plain([item]));
    });

    it('leaves keys that do not exist out of what it loads', async () => {
      const scope = freshScope();
      await create(scope, [makeItem()]);
      const loaded = await store.load(scope, [makeItem({ key: 'bob' }), makeItem()]);
      expect([...loaded.keys()]).toEqual(['alice']);
    });

    it('does nothing for an empty call', async () => {
      const scope = freshScope();
      expect(await store.load(scope, [])).toEqual(new Map());
      expect(await store.write(scope, [])).toEqual([]);
      await store.expireTombstones(scope, []);
    });

    it('loads a key once that is asked for twice', async () => {
      const scope = freshScope();
      await create(scope, [makeItem()]);
      expect(await load(scope, [makeItem(), makeItem()])).toEqual(plain([makeItem()]));
    });

    it('sees each write that was acknowledged before', async () => {
      const scope = freshScope();
      await create(scope, [makeItem({ version: 1 })]);
      for (let version = 2; version <= 20; version += 1) {
        const item = makeItem({ version });
        expect(await store.write(scope, [{ item, expectedVersion: version - 1 }])).toEqual([
          'written',
        ]);
        expect((await store.load(scope, [item])).get('alice')?.version).toBe(version);
      }
    });

    it('never replaces an item by a create', async () => {
      const scope = freshScope();
      await create(scope, [makeItem({ version: 5 })]);
      expect(await create(scope, [makeItem({ version: 6 })])).toEqual(['conflict']);
      expect((await store.load(scope, [makeItem()])).get('alice')?.version).toBe(5);
    });

    it('never creates an item by an update', async () => {
      const scope = freshScope();
      const item = makeItem({ version: 6 });
      expect(await store.write(scope, [{ item, expectedVersion: 5 }])).toEqual(['conflict']);
      expect(await store.load(scope, [item])).toEqual(new Map());
    });

    it('refuses an update of a version that is not the current one, older or newer', async () => {
      const scope = freshScope();
      await create(scope, [makeItem({ version: 5 })]);
      for (const expectedVersion of [4, 6]) {
        const item = makeItem({ version: expectedVersion + 1, states: new Uint8Array([0]) });
        expect(await store.write(scope, [{ item, expectedVersion }])).toEqual(['conflict']);
      }
      expect(await load(scope, [makeItem()])).toEqual(plain([makeItem({ version: 5 })]));
    });

    it('replaces the whole item: what the new one lacks is gone', async () => {
      const scope = freshScope();
      const full = makeItem({
        version: 1,
        emissions: new Uint8Array([1]),
        spills: [{ name: 'a', bytes: 1, crc: 2, last: { sequence, sub: 0 } }],
        timers: [{ domain: 'event', time: 5, name: 'x' }],
      });
      const tombstone = makeItem({ version: 2, states: undefined });
      const alive = makeItem({ version: 3, states: new Uint8Array([5]) });
      await create(scope, [full]);
      await store.write(scope, [{ item: tombstone, expectedVersion: 1 }]);
      expect(await load(scope, [full])).toEqual(plain([tombstone]));
      await store.write(scope, [{ item: alive, expectedVersion: 2 }]);
      expect(await load(scope, [full])).toEqual(plain([alive]));
    });

    it('judges each write of a call for itself and answers in the same order', async () => {
      const scope = freshScope();
      const items = make(60, { version: 1 });
      await create(
        scope,
        items.filter((_, at) => at % 2 === 0),
      );
      const outcomes = await store.write(
        scope,
        items.map((item, at) =>
          at % 3 === 0
            ? { item: { ...item, version: 2 }, expectedVersion: 1 }
            : { item: { ...item, version: 2 }, expectedVersion: undefined },
        ),
      );
      const expected = items.map((_, at) => {
        const exists = at % 2 === 0;
        const isUpdate = at % 3 === 0;
        return exists === isUpdate ? 'written' : 'conflict';
      });
      expect(outcomes).toEqual(expected);
      const loaded = await store.load(scope, items);
      const versions = items.map(({ key }) => loaded.get(key)?.version);
      expect(versions).toEqual(
        expected.map((outcome, at) => (outcome === 'written' ? 2 : at % 2 === 0 ? 1 : undefined)),
      );
    });

    it('takes and gives more items in a call than fit into one request', async () => {
      const scope = freshScope();
      const items = make(430);
      expect(await create(scope, items)).toEqual(items.map(() => 'written'));
      expect(await load(scope, items)).toEqual(plain(items));
    });

    it('lets exactly one of several creators of a key win', async () => {
      const scope = freshScope();
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, at) => create(scope, [makeItem({ version: at })])),
      );
      const winners = outcomes.flat().flatMap((outcome, at) => (outcome === 'written' ? [at] : []));
      expect(winners).toHaveLength(1);
      expect((await store.load(scope, [makeItem()])).get('alice')?.version).toBe(winners[0]);
    });

    it('lets exactly one of several writers of a version win', async () => {
      const scope = freshScope();
      await create(scope, [makeItem({ version: 1 })]);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          store.write(scope, [
            { item: makeItem({ version: 2, arrivalMs: at }), expectedVersion: 1 },
          ]),
        ),
      );
      const winners = outcomes.flat().flatMap((outcome, at) => (outcome === 'written' ? [at] : []));
      expect(winners).toHaveLength(1);
      expect((await store.load(scope, [makeItem()])).get('alice')?.arrivalMs).toBe(winners[0]);
    });

    it('keeps jobs, generations, operators and key groups apart', async () => {
      const scope = freshScope();
      await create(scope, [makeItem()]);
      const others: StateScope[] = [
        { ...scope, job: `${scope.job}-2` },
        { ...scope, generation: 2 },
        { ...scope, operator: 'sessions-2' },
      ];
      for (const other of others) expect(await store.load(other, [makeItem()])).toEqual(new Map());
      expect(await store.load(scope, [makeItem({ keyGroup: 8 })])).toEqual(new Map());
      for (const other of others) expect(await create(other, [makeItem()])).toEqual(['written']);
    });

    it('refuses a call that writes a key twice', async () => {
      const scope = freshScope();
      const thrown: unknown = await create(scope, [makeItem(), makeItem()]).catch(
        (error: unknown) => error,
      );
      expect(isHoldfastError(thrown, 'internal')).toBe(true);
      expect(await store.load(scope, [makeItem()])).toEqual(new Map());
    });

    it('shares no memory with its callers', async () => {
      const scope = freshScope();
      const states = Buffer.from([1, 2, 3]);
      const timers: { -readonly [Name in keyof Timer]: Timer[Name] }[] = [
        { domain: 'event', time: 5, name: 'x' },
      ];
      const position = { sequence, sub: 3, step: { ...step } };
      const written = makeItem({ states, timers, position });
      const copy = structuredClone({ ...written, states: new Uint8Array(states) });
      await create(scope, [written]);
      states.fill(0);
      timers[0]!.time = 6;
      position.step.time = 6;
      const loaded = (await store.load(scope, [makeItem()])).get('alice');
      expect([...(loaded?.states ?? [])]).toEqual([1, 2, 3]);
      loaded?.states?.fill(0);
      Object.assign(loaded!.timers[0]!, { time: 7 });
      Object.assign(loaded!.position.step!, { time: 7 });
      expect(await load(scope, [makeItem()])).toEqual(plain([copy]));
    });

    it('lets a tombstone of the given version expire', async () => {
      const scope = freshScope();
      const items = make(40, { states: undefined, version: 5 });
      await create(scope, items);
      await store.expireTombstones(
        scope,
        items.map(({ key, keyGroup }, at) => ({
          key,
          keyGroup,
          version: 5,
          expiresAtSeconds: 1_900_000_000 + at,
        })),
      );
      expect(await readExpiry(scope, items[0]!)).toBe(1_900_000_000);
      expect(await readExpiry(scope, items[39]!)).toBe(1_900_000_039);
      expect(await load(scope, items)).toEqual(plain(items));
    });

    it('leaves alone what is no tombstone of this version any more', async () => {
      const scope = freshScope();
      const alive = makeItem({ key: 'alive', version: 5 });
      const newer = makeItem({ key: 'newer', version: 6, states: undefined });
      const due = makeItem({ key: 'due', version: 5, states: undefined });
      await create(scope, [alive, newer, due]);
      await store.expireTombstones(
        scope,
        ['alive', 'newer', 'absent', 'due'].map((key) => ({
          key,
          keyGroup: 7,
          version: 5,
          expiresAtSeconds: 1_900_000_000,
        })),
      );
      expect(await readExpiry(scope, alive)).toBeUndefined();
      expect(await readExpiry(scope, newer)).toBeUndefined();
      expect(await readExpiry(scope, due)).toBe(1_900_000_000);
      expect(await store.load(scope, [makeItem({ key: 'absent' })])).toEqual(new Map());
    });

    it('removes the expiry with every state write', async () => {
      const scope = freshScope();
      const tombstone = makeItem({ version: 5, states: undefined });
      await create(scope, [tombstone]);
      const expire = (version: number): Promise<void> =>
        store.expireTombstones(scope, [
          { key: 'alice', keyGroup: 7, version, expiresAtSeconds: 1_900_000_000 },
        ]);
      await expire(5);
      await store.write(scope, [{ item: { ...tombstone, version: 6 }, expectedVersion: 5 }]);
      expect(await readExpiry(scope, tombstone)).toBeUndefined();
      await expire(6);
      await store.write(scope, [{ item: makeItem({ version: 7 }), expectedVersion: 6 }]);
      expect(await readExpiry(scope, tombstone)).toBeUndefined();
    });
  });
}
