import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import { hashKey, type HashRange } from '../../shared/core/key-group.ts';
import { timerTimeMax, type TimeDomain } from '../../shared/core/timer.ts';
import {
  hintPartitionOf,
  hintPartitions,
  type Hint,
  type HintStore,
} from '../../shared/ports/hint-store.ts';
import type { StateScope } from '../../shared/ports/state-store.ts';

const noon = 1_735_732_800_000;
const allHashes: HashRange = { from: '0'.repeat(32), to: 'f'.repeat(32) };

export function freshScope(): StateScope {
  return { job: `job-${randomUUID()}`, generation: 1, operator: 'sessions' };
}

export function makeHint(overrides: Partial<Hint> = {}): Hint {
  const { key = 'alice' } = overrides;
  return { domain: 'event', time: noon, key, keyHash: hashKey(key), ...overrides };
}

/** A hash in partition 5, in the order of `at`. */
function hashAt(at: number): string {
  return `5${String(at).padStart(31, '0')}`;
}

/** Hints that all lie in partition 5. */
export function makeHints(count: number, overrides: Partial<Hint> = {}): Hint[] {
  return Array.from({ length: count }, (_, at) =>
    makeHint({ key: `key-${at}`, keyHash: hashAt(at), ...overrides }),
  );
}

/** Hints in an order of their own, as the store promises none. */
export function sorted(hints: readonly Hint[]): Hint[] {
  const nameOf = (hint: Hint): string => JSON.stringify([hint.domain, hint.time, hint.key]);
  return hints.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function describeHintStore(name: string, open: () => Promise<HintStore>): void {
  describe(`hint store: ${name}`, () => {
    let store: HintStore;

    beforeAll(async () => {
      store = await open();
    });

    /** What every partition has, together. */
    const findEverywhere = async (scope: StateScope, domain: TimeDomain, upTo: number) => {
      const answers = await Promise.all(
        Array.from({ length: hintPartitions }, (_, partition) =>
          store.findDue(scope, partition, domain, upTo, allHashes),
        ),
      );
      const times = answers.flatMap(({ nextTime }) => nextTime ?? []);
      return {
        due: sorted(answers.flatMap(({ due }) => due)),
        nextTime: times.length === 0 ? undefined : Math.min(...times),
      };
    };

    it('finds nothing where nothing was inserted', async () => {
      const found = await store.findDue(freshScope(), 0, 'event', noon, allHashes);
      expect(found).toEqual({ due: [], nextTime: undefined });
    });

    it('does nothing for an empty call', async () => {
      const scope = freshScope();
      await store.insert(scope, []);
      await store.remove(scope, []);
      expect(await findEverywhere(scope, 'event', timerTimeMax)).toEqual({
        due: [],
        nextTime: undefined,
      });
    });

    it('gives back hints as they were inserted, whatever the key', async () => {
      const scope = freshScope();
      const fox = '🦊'.repeat(242);
      const keys = [
        'alice',
        '',
        'a#b~c',
        'naïve key / with ☃ and a line\nbreak',
        'x'.repeat(257),
        '🦊'.repeat(256),
        `${fox}🦊a`,
        `${fox}🦊b`,
        `${fox}🦊`,
        fox,
      ];
      const hints = keys.map((key) => makeHint({ key }));
      await store.insert(scope, hints);
      expect(await findEverywhere(scope, 'event', noon)).toEqual({
        due: sorted(hints),
        nextTime: undefined,
      });
    });

    it('keeps apart keys that have one hash', async () => {
      const scope = freshScope();
      const hints = ['a', 'b'].map((key) => makeHint({ key, keyHash: hashAt(0) }));
      await store.insert(scope, hints);
      await store.remove(scope, [hints[0]!]);
      const { due } = await store.findDue(scope, 5, 'event', noon, allHashes);
      expect(due).toEqual([hints[1]]);
    });

    it('finds what is due up to and with a time, and says when the next is', async () => {
      const scope = freshScope();
      const times = [-timerTimeMax, -1, 0, 1, noon - 1, noon, noon + 1, timerTimeMax];
      const hints = times.map((time) => makeHint({ time, keyHash: hashAt(1) }));
      await store.insert(scope, hints);
      const find = async (upTo: number) => {
        const { due, nextTime } = await store.findDue(scope, 5, 'event', upTo, allHashes);
        return { times: due.map(({ time }) => time).toSorted((a, b) => a - b), nextTime };
      };
      for (const [at, upTo] of times.entries()) {
        expect(await find(upTo)).toEqual({
          times: times.slice(0, at + 1),
          nextTime: times[at + 1],
        });
      }
      expect(await find(noon + 2)).toEqual({ times: times.slice(0, -1), nextTime: timerTimeMax });
    });

    it('takes times at which no timer can be', async () => {
      const scope = freshScope();
      await store.insert(scope, [makeHint({ keyHash: hashAt(1) })]);
      const find = (upTo: number) => store.findDue(scope, 5, 'event', upTo, allHashes);
      for (const upTo of [-Infinity, -Number.MAX_VALUE, Number.MIN_SAFE_INTEGER, noon - 0.5]) {
        expect(await find(upTo)).toEqual({ due: [], nextTime: noon });
      }
      for (const upTo of [noon + 0.5, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Infinity]) {
        expect(await find(upTo)).toMatchObject({ due: [{ time: noon }], nextTime: undefined });
      }
    });

    it('keeps event time and arrival time apart', async () => {
      const scope = freshScope();
      const event = makeHint({ time: noon - 1, keyHash: hashAt(1) });
      const arrival = makeHint({ domain: 'arrival', keyHash: hashAt(1) });
      await store.insert(scope, [event, arrival]);
      const find = (domain: TimeDomain, upTo: number) =>
        store.findDue(scope, 5, domain, upTo, allHashes);
      expect(await find('event', noon)).toEqual({ due: [event], nextTime: undefined });
      expect(await find('arrival', noon)).toEqual({ due: [arrival], nextTime: undefined });
      expect(await find('event', 0)).toEqual({ due: [], nextTime: noon - 1 });
      expect(await find('arrival', 0)).toEqual({ due: [], nextTime: noon });
    });

    it('keeps jobs, generations, operators and partitions apart', async () => {
      const scope = freshScope();
      const hint = makeHint();
      await store.insert(scope, [hint]);
      const home = hintPartitionOf(hint.keyHash);
      const others: StateScope[] = [
        { ...scope, job: `${scope.job}-2` },
        { ...scope, generation: 11 },
        { ...scope, operator: 'sessions-2' },
      ];
      const nothing = { due: [], nextTime: undefined };
      for (const upTo of [0, noon]) {
        for (const other of others) {
          expect(await store.findDue(other, home, 'event', upTo, allHashes)).toEqual(nothing);
        }
        for (let partition = 0; partition < hintPartitions; partition += 1) {
          if (partition === home) continue;
          const found = await store.findDue(scope, partition, 'event', upTo, allHashes);
          expect(found).toEqual(nothing);
        }
      }
      for (const other of others) await store.remove(other, [hint]);
      const found = await store.findDue(scope, home, 'event', noon, allHashes);
      expect(found).toEqual({ due: [hint], nextTime: undefined });
    });

    it('shows a shard the hints of its own range alone, both ends included', async () => {
      const scope = freshScope();
      const due = makeHints(20);
      const later = makeHints(20).map((hint, at) => ({ ...hint, time: noon + 1 + at }));
      await store.insert(scope, [...due, ...later]);
      const range = { from: hashAt(7), to: hashAt(9) };
      const found = await store.findDue(scope, 5, 'event', noon, range);
      expect(sorted(found.due)).toEqual(sorted(due.slice(7, 10)));
      expect(found.nextTime).toBe(noon + 8);
      expect(await store.findDue(scope, 5, 'event', noon + 10, range)).toMatchObject({
        nextTime: undefined,
      });
    });

    it("finds the next hint of a range behind many of others' keys", async () => {
      const scope = freshScope();
      await store.insert(scope, makeHints(500, { time: noon + 1 }));
      const own = makeHint({ time: noon + 2, keyHash: hashAt(1_000) });
      const range = { from: hashAt(500), to: hashAt(2_000) };
      const find = () => store.findDue(scope, 5, 'event', noon, range);
      expect(await find()).toEqual({ due: [], nextTime: undefined });
      await store.insert(scope, [own]);
      expect(await find()).toEqual({ due: [], nextTime: noon + 2 });
    });

    it('finds more hints than one answer of a server can hold', async () => {
      const scope = freshScope();
      // 600 of some 2 KB.
      const hints = Array.from({ length: 600 }, (_, at) =>
        makeHint({ key: '🦊'.repeat(250) + at, keyHash: hashAt(at) }),
      );
      await store.insert(scope, hints);
      const found = await store.findDue(scope, 5, 'event', noon, allHashes);
      expect(sorted(found.due)).toEqual(sorted(hints));
      await store.remove(scope, hints);
      expect(await store.findDue(scope, 5, 'event', noon, allHashes)).toMatchObject({ due: [] });
    });

    it('keeps one hint of a key and time, however often it is inserted', async () => {
      const scope = freshScope();
      const hint = makeHint({ keyHash: hashAt(1) });
      await store.insert(scope, [hint, makeHint({ keyHash: hashAt(2), key: 'bob' }), hint]);
      await store.insert(scope, [hint]);
      await store.insert(scope, [{ ...hint, time: noon + 1 }]);
      const found = await store.findDue(scope, 5, 'event', noon, allHashes);
      expect(found.due.map(({ key }) => key).toSorted()).toEqual(['alice', 'bob']);
      expect(found.nextTime).toBe(noon + 1);
    });

    it('removes what it is told to and nothing else, also twice and what is not there', async () => {
      const scope = freshScope();
      const hints = makeHints(60);
      await store.insert(scope, hints);
      const absent = makeHint({ key: 'nobody', keyHash: hashAt(99) });
      const gone = [...hints.slice(0, 55), hints[0]!, absent];
      const others: Hint[] = [
        { ...hints[55]!, time: noon - 1 },
        { ...hints[56]!, domain: 'arrival' },
        { ...hints[57]!, key: 'another key' },
      ];
      await store.remove(scope, [...gone, ...others]);
      await store.remove(scope, gone);
      const { due } = await store.findDue(scope, 5, 'event', noon, allHashes);
      expect(sorted(due)).toEqual(sorted(hints.slice(55)));
    });

    it('sees each hint that was acknowledged before', async () => {
      const scope = freshScope();
      for (let at = 0; at < 30; at += 1) {
        await store.insert(scope, [makeHint({ keyHash: hashAt(at), time: noon + at })]);
        const { due } = await store.findDue(scope, 5, 'event', noon + at, allHashes);
        expect(due).toHaveLength(at + 1);
      }
    });

    it('takes hints from many at once', async () => {
      const scope = freshScope();
      const hints = makeHints(200);
      await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          store.insert(scope, hints.slice(at * 20, at * 20 + 60)),
        ),
      );
      const { due } = await store.findDue(scope, 5, 'event', noon, allHashes);
      expect(sorted(due)).toEqual(sorted(hints));
    });

    it('shares no memory with its callers', async () => {
      const scope = freshScope();
      const hint = makeHint({ keyHash: hashAt(1) });
      const handed = { ...hint };
      await store.insert(scope, [handed]);
      handed.time = 0;
      const find = () => store.findDue(scope, 5, 'event', noon, allHashes);
      Object.assign((await find()).due[0]!, { time: 0 });
      expect((await find()).due).toEqual([hint]);
    });
  });
}
