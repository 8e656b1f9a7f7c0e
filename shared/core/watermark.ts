import type { HashRange } from './key-group.ts';
import type { TimeDomain, Timer } from './timer.ts';

/**
 * How far the time of a channel has come, in each domain; undefined before the first record that tells. A function of
 * the channel's records alone (P11): it never goes back.
 */
export type Watermarks = Readonly<Record<TimeDomain, number | undefined>>;

/** What the keys of a range have seen already in the shards before this one. */
export interface WatermarkFloor {
  readonly range: HashRange;
  readonly watermarks: Watermarks;
}

export const noWatermarks: Watermarks = { event: undefined, arrival: undefined };

/** Most floors that a channel can inherit: one for each ancestor whose range it holds a part of. */
export const floorsMax = 256;

/** What one record says of time. */
export interface RecordTime {
  /** Event time less the allowed out-of-orderness, ms since the epoch; undefined where the record has no say. */
  readonly eventWatermark: number | undefined;
  readonly arrivalMs: number;
}

/** What an event says of time: no event after it is expected to lie before this, ms since the epoch. */
export function watermarkBehind(
  time: number,
  { outOfOrdernessMs }: { readonly outOfOrdernessMs: number },
): number {
  return Math.floor(time) - outOfOrdernessMs;
}

/** The watermarks after a record. */
export function advanceWatermarks(before: Watermarks, record: RecordTime): Watermarks {
  const event = laterTime(before.event, record.eventWatermark);
  const arrival = laterTime(before.arrival, record.arrivalMs);
  return event === before.event && arrival === before.arrival ? before : { event, arrival };
}

/** The watermarks of one key: those of the channel, but nothing that its range has seen already is taken back. */
export function watermarksOfKey(
  channel: Watermarks,
  floors: readonly WatermarkFloor[],
  keyHash: string,
): Watermarks {
  for (const { range, watermarks } of floors) {
    if (range.from <= keyHash && keyHash <= range.to) return laterOf(channel, watermarks);
  }
  return channel;
}

/** The floors that a child inherits from one parent: those parts of the parent's range that it holds. */
export function inheritFloors(
  child: HashRange,
  parent: {
    readonly range: HashRange;
    readonly watermarks: Watermarks;
    readonly floors: readonly WatermarkFloor[];
  },
): WatermarkFloor[] {
  // The first floor that holds a key counts; the parent's own watermark is that of all keys without another.
  const parts = [
    ...parent.floors.map(({ range, watermarks }) => ({
      range,
      watermarks: laterOf(parent.watermarks, watermarks),
    })),
    { range: parent.range, watermarks: parent.watermarks },
  ];
  const inherited: WatermarkFloor[] = [];
  for (const { range, watermarks } of parts) {
    const from = range.from > child.from ? range.from : child.from;
    const to = range.to < child.to ? range.to : child.to;
    if (from <= to) inherited.push({ range: { from, to }, watermarks });
  }
  return inherited;
}

/** The floors that still hold back nothing less than the channel's own watermarks; the others say nothing any more. */
export function dropPassedFloors(
  channel: Watermarks,
  floors: readonly WatermarkFloor[],
): readonly WatermarkFloor[] {
  if (floors.length === 0) return floors;
  // What a floor hides behind it lies no later than itself, so that it goes with it.
  return floors.filter(({ watermarks }) => {
    const later = laterOf(channel, watermarks);
    return later.event !== channel.event || later.arrival !== channel.arrival;
  });
}

export function isDue(timer: Timer, watermarks: Watermarks): boolean {
  const watermark = watermarks[timer.domain];
  return watermark !== undefined && timer.time <= watermark;
}

/** The earlier of two times, where undefined is never. */
export function earlierTime(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  return Math.min(a, b);
}

/** The later of two times, where undefined is before all. */
export function laterTime(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  return Math.max(a, b);
}

function laterOf(a: Watermarks, b: Watermarks): Watermarks {
  return { event: laterTime(a.event, b.event), arrival: laterTime(a.arrival, b.arrival) };
}
