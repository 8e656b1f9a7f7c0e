import { seededRandom } from '../../shared/core/random.ts';

/** How often each key comes: all alike, or as names and airports do, the first by far the most. */
export type Spread = 'uniform' | 'zipf';

/** An event as benches send it: 131 bytes of JSON. */
export interface BenchEvent {
  readonly key: string;
  /** Event time, ms since the epoch. */
  readonly at: number;
  readonly amount: number;
  readonly item: string;
  readonly note: string;
}

/** With it, 1,000 events over 1,000 keys come to 340 keys. */
const zipfExponent = 1.1;

const startMs = Date.UTC(2025, 0, 1);

/** Makes the events of one run, the same in each: which keys come when is seeded. */
export interface EventSource {
  readonly keys: number;
  /** The next so many events. */
  next(count: number): BenchEvent[];
}

/** @param everyMs event time between two events, ms */
export function createEventSource(keys: number, spread: Spread, everyMs = 1): EventSource {
  const random = seededRandom(`${keys} ${spread}`);
  const pick = spread === 'uniform' ? () => Math.floor(random() * keys) : createZipf(keys, random);
  let made = 0;
  return {
    keys,
    next: (count) =>
      Array.from({ length: count }, () => {
        made += 1;
        const item = String(Math.floor(random() * 1e6)).padStart(6, '0');
        const amount = 100 + Math.floor(random() * 900);
        const at = startMs + made * everyMs;
        const event = { key: keyName(pick()), at, amount, item, note: '' };
        const note = 'x'.repeat(131 - JSON.stringify(event).length);
        return { ...event, note };
      }),
  };
}

export function keyName(number: number): string {
  return `key-${String(number).padStart(7, '0')}`;
}

/** Draws by the sums of all weights before; the heavy keys lie anywhere among the others. */
function createZipf(keys: number, random: () => number): () => number {
  const sums = new Float64Array(keys);
  let sum = 0;
  for (let rank = 0; rank < keys; rank += 1) {
    sum += (rank + 1) ** -zipfExponent;
    sums[rank] = sum;
  }
  return () => {
    const drawn = random() * sum;
    let low = 0;
    let high = keys - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! <= drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
