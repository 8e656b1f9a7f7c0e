import { channelId } from '../../core/channel.ts';
import type { Manifest } from '../../core/manifest.ts';

/*
 * Which segments a restore can need besides those that manifests list. A restore voids the rows past its cut; going back to a
 * later point after that, as an undo does, publishes them once more from the segments between the two (R2, R10). So for each
 * recovery point that there is, or that an undo of the present would be, the segments on the way to it stay, from the lowest
 * place on at which another point leaves that way, or has left it when it was restored.
 */

/** Segments of a channel: past number `after`, up to and with number `upTo`. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

export interface RecoveryPoints {
  /** The job's generation. */
  readonly present: number;
  /** Manifests from which the job can be restored, now or once they are complete. */
  readonly manifests: readonly Manifest[];
  readonly restores: readonly MadeGeneration[];
  /** The number of the last segment of a channel of this generation that the next manifest does not list. */
  readonly compacted: (channel: string) => number;
}

/** A generation that a restore has made. */
export interface MadeGeneration {
  readonly generation: number;
  /** What it began with. */
  readonly manifest: Manifest;
  /** The tables were lost: all that was published before is under its number, or gone (R11). */
  readonly areTablesLost: boolean;
}

/** The segments of a channel that have to stay, whether a manifest lists them or not. */
export type FindNeeded = (generation: number, channel: string) => readonly Stretch[];

/** For each generation on the way to a point, the number of the last segment of a channel that belongs to it. */
type Way = ReadonlyMap<number, (channel: string) => number>;

export function createFindNeeded(points: RecoveryPoints): FindNeeded {
  const { present, manifests, restores, compacted } = points;
  const originOf = (generation: number): Manifest | undefined =>
    restores.find((restore) => restore.generation === generation)?.manifest;
  const leaving = manifests.map((manifest) => wayTo(manifest, originOf));
  const left = restores.map(({ generation, manifest, areTablesLost }) => ({
    generation,
    way: areTablesLost ? new Map<number, never>() : wayTo(manifest, originOf),
  }));
  const beginning = originOf(present);
  const underWay: Way = new Map([
    ...(beginning === undefined ? [] : wayTo(beginning, originOf)),
    [present, () => Number.POSITIVE_INFINITY],
  ]);
  const ends = [
    { way: underWay, others: leaving },
    ...manifests.map((manifest, at) => ({
      way: leaving[at]!,
      // A restore from before its generation has voided nothing that it holds.
      others: [
        ...leaving,
        ...left.filter((other) => other.generation > manifest.generation).map(({ way }) => way),
      ],
    })),
  ];
  const find: FindNeeded = (generation, channel) => {
    const numberOn = (way: Way): number => way.get(generation)?.(channel) ?? 0;
    const stretches = ends.map(({ way, others }) => ({
      after: Math.min(...others.map(numberOn)),
      upTo: numberOn(way),
    }));
    if (generation === present) {
      stretches.push({ after: compacted(channel), upTo: Number.POSITIVE_INFINITY });
    }
    return stretches.filter(({ after, upTo }) => after < upTo);
  };
  // Every segment of a channel asks for the same.
  const found = new Map<string, readonly Stretch[]>();
  return (generation, channel) => {
    const key = `${generation}/${channel}`;
    let stretches = found.get(key);
    if (stretches === undefined) found.set(key, (stretches = find(generation, channel)));
    return stretches;
  };
}

function wayTo(manifest: Manifest, originOf: (generation: number) => Manifest | undefined): Way {
  const way = new Map<number, (channel: string) => number>();
  let next: Manifest | undefined = manifest;
  while (next !== undefined && !way.has(next.generation)) {
    const heads = new Map(
      next.channels.map(({ channel, progress }) => [
        channelId(channel),
        progress.head?.number ?? 0,
      ]),
    );
    way.set(next.generation, (channel) => heads.get(channel) ?? 0);
    next = originOf(next.generation);
  }
  return way;
}
