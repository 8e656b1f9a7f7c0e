import { channelId } from '../../core/channel.ts';
import type { Base, Manifest } from '../../core/manifest.ts';
import type { SegmentReference } from '../../core/progress.ts';
import type { PendingWork, Registry } from '../../core/registry.ts';
import { manifestName, parseObjectName, type ObjectIdentity } from '../object-names.ts';
import type { FindNeeded } from './needed-segments.ts';

/*
 * What of a job's objects is needed, what is garbage, and what cannot be told yet. Pure: the facts are read before, and nothing
 * that is not among them is looked at. No rule has a clock in it, and none needs one: numbers are given out by compare-and-swap
 * and never again, pending work is registered before its first object, and listing comes before reading what is registered; so
 * what was listed and is neither registered nor named by anything that is can never be named again.
 */

/** What was read after the listing. */
export interface GarbageFacts {
  readonly job: string;
  /** The job's generation. */
  readonly present: number;
  readonly registry: Pick<Registry, 'pending' | 'complete' | 'pins'>;
  /** By object name: manifests that are complete, pinned, or those of pending work that stand. */
  readonly manifests: ReadonlyMap<string, Manifest>;
  /** Names of the manifests that generations were made from: they say where rows count (R10). */
  readonly origins: ReadonlySet<string>;
  /** Numbers of compactions that are under way, or whose result somebody may be about to name. */
  readonly compactions: ReadonlySet<number>;
  /** All of those manifests, and those that these compactions merge: what they list stays. */
  readonly listing: readonly Manifest[];
  /** By object name: the bases that manifests are made of, or generations loaded from. */
  readonly bases: ReadonlyMap<string, Base>;
  /** Pending work of which nothing stands that would say what it reads: whatever it could read stays. */
  readonly isUnclear: boolean;
  /** The head of a channel of the present generation; undefined where it has none. */
  readonly headOf: (channel: string) => SegmentReference | undefined;
  /** Which attempt's segment of a number was committed, as far as it is known (C5). */
  readonly committedAt: (segment: Place) => string | undefined;
  readonly findNeeded: FindNeeded;
  /** True for a spill whose emissions no item and no segment needs. */
  readonly isSpillPassed: (spill: Place & { readonly name: string }) => boolean;
}

/** Where a segment or a spill belongs. */
export interface Place {
  readonly generation: number;
  readonly channelId: string;
  readonly number: number;
}

/** `unclear`: it cannot be told yet; a later collection can. */
export interface Verdict {
  readonly kind: 'live' | 'garbage' | 'unclear';
  readonly reason: string;
}

type Segment = ObjectIdentity & { readonly kind: 'segment' };

/** Judges an object by its name; the facts are looked through once for all of them. */
export function createClassifier(facts: GarbageFacts): (name: string) => Verdict {
  const kept = gatherKept(facts);
  return (name) => {
    const identity = parseObjectName(facts.job, name);
    switch (identity.kind) {
      case 'job-marker':
      case 'reservation':
      case 'unknown':
        return live('stays for ever');
      case 'manifest':
        if (facts.manifests.has(name)) return live('registered');
        if (facts.origins.has(name)) return live('a generation was made from it');
        return unlessUnclear(facts, 'manifest that does not count');
      case 'completion': {
        const manifest = manifestName(facts.job, identity.manifest);
        return kept.complete.has(manifest)
          ? live('registered')
          : garbage('of a manifest that does not count');
      }
      case 'base':
        if (facts.bases.has(name)) return live('registered');
        return unlessUnclear(facts, 'replaced or abandoned base');
      case 'cut':
      case 'plan':
        if (facts.compactions.has(identity.number)) return live('under way');
        return unlessUnclear(facts, 'of a compaction that is over');
      case 'run':
        if (facts.compactions.has(identity.number)) return live('under way');
        if (kept.files.has(name)) return live('listed');
        return unlessUnclear(facts, 'listed by nothing');
      case 'savepoint-file':
        if (kept.savepoints.has(identity.label)) return live('under way');
        if (kept.files.has(name)) return live('listed');
        return unlessUnclear(facts, 'listed by nothing');
      case 'segment':
        if (kept.segments.has(segmentKey(identity))) return live('listed');
        return judgeSegment(facts, identity);
      case 'spill':
        if (identity.generation > facts.present) return unclear('of a generation to come');
        if (!facts.isSpillPassed({ ...identity, name })) return live('may be needed');
        return unlessUnclear(facts, 'passed by all that could need it');
    }
  };
}

function judgeSegment(facts: GarbageFacts, segment: Segment): Verdict {
  const { generation, channelId: channel, number, attempt } = segment;
  const isPresent = generation === facts.present;
  // A number that is reserved belongs to one restore, which may be run again (R4); once passed, it never comes back.
  if (generation > facts.present) return unclear('of a generation to come');
  const head = isPresent ? (facts.headOf(channel)?.number ?? 0) : Number.POSITIVE_INFINITY;
  // C5: above the head it may still be committed.
  if (number > head) return unclear('past the head');
  // Whoever opens the channel reads it.
  if (attempt === facts.headOf(channel)?.attempt && number === head) return live('head');
  const isNeeded = facts
    .findNeeded(generation, channel)
    .some(({ after, upTo }) => after < number && number <= upTo);
  if (!isNeeded && !facts.isUnclear) return garbage('passed by all recovery points');
  const committed = facts.committedAt(segment);
  if (committed === undefined) return unclear('its chain was not read');
  if (committed !== attempt) return garbage('not on the chain');
  return isNeeded ? live('needed to publish again') : unclear('pending work may read it');
}

interface Kept {
  readonly complete: ReadonlySet<string>;
  /** Labels of savepoints that are being made. */
  readonly savepoints: ReadonlySet<string>;
  /** Names of run files that something lists. */
  readonly files: ReadonlySet<string>;
  readonly segments: ReadonlySet<string>;
}

function gatherKept({ registry, listing, bases }: GarbageFacts): Kept {
  const { pending, complete, pins } = registry;
  const files = [...listing, ...bases.values()].flatMap(({ runs }) =>
    runs.flatMap((run) => run.files.map(({ name }) => name)),
  );
  return {
    complete: new Set([...complete, ...pins].map(({ object }) => object)),
    savepoints: new Set(pending.filter(isSavepoint).map(({ label }) => label)),
    files: new Set(files),
    segments: new Set(listing.flatMap(listSegments)),
  };
}

function isSavepoint({ kind }: PendingWork): boolean {
  return kind === 'savepoint';
}

function listSegments({ channels, generation }: Manifest): string[] {
  return channels.flatMap(({ channel, segments }) =>
    segments.map(({ number, attempt }) =>
      segmentKey({ generation, channelId: channelId(channel), number, attempt }),
    ),
  );
}

function segmentKey(segment: Place & { readonly attempt: string }): string {
  const { generation, channelId: channel, number, attempt } = segment;
  return `${generation}/${channel}/${number}-${attempt}`;
}

function unlessUnclear({ isUnclear }: GarbageFacts, reason: string): Verdict {
  return isUnclear ? unclear('pending work may read it') : garbage(reason);
}

function live(reason: string): Verdict {
  return { kind: 'live', reason };
}

function garbage(reason: string): Verdict {
  return { kind: 'garbage', reason };
}

function unclear(reason: string): Verdict {
  return { kind: 'unclear', reason };
}
