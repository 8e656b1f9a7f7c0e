import { originOf, type StreamIncarnation } from '../../core/channel.ts';
import { HoldfastError, isHoldfastError } from '../../core/errors.ts';
import type { Manifest } from '../../core/manifest.ts';
import type { Job } from '../../ports/control-store.ts';
import type { StreamDescription } from '../../ports/shard-reader.ts';
import { describeOperators } from '../checkpoint/manifest-facts.ts';
import { listManifestFiles } from '../checkpoint/manifest-objects.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import { hasObject } from '../has-object.ts';
import { inParallel } from '../in-parallel.ts';
import { checkMappings } from './check-mappings.ts';
import { compareContracts, type ContractDifference } from './compare-contracts.ts';
import type { RestoreOrder, RestorePorts } from './restore-order.ts';

/** What a restore would do, and what stands against it. */
export interface RestoreCheck {
  readonly manifest: Manifest;
  readonly differences: readonly ContractDifference[];
  /** Channels whose records after the cut have left the stream, each as a sentence. */
  readonly gaps: readonly string[];
  /** Files of the manifest that are not in the bucket. */
  readonly missing: readonly string[];
  /** What stands against nothing. */
  readonly warnings: readonly string[];
}

/** Looks for everything that stands against a restore, and changes nothing. */
export async function checkRestore(
  ports: RestorePorts,
  order: Pick<RestoreOrder, 'restore' | 'manifest' | 'areTablesLost'>,
): Promise<RestoreCheck> {
  const manifest = await readManifest(ports, order.manifest);
  const job = await ports.control.readJob(ports.job);
  if (job === undefined && !order.areTablesLost) {
    throw new HoldfastError(
      'invalid',
      `job ${ports.job} has no item in the control table; if its tables were lost, restore it with the option that says so, else deploy it first`,
    );
  }
  if (job !== undefined && order.areTablesLost && job.hold?.owner !== order.restore) {
    throw new HoldfastError(
      'invalid',
      `job ${ports.job} has an item in the control table, in generation ${job.generation}: its tables are not lost; restore it without the option that says so`,
    );
  }
  return compareManifest(ports, manifest, {
    maxParallelism: job?.maxParallelism ?? manifest.maxParallelism,
    operators: job?.operators ?? manifest.operators.map(({ id }) => id),
  });
}

/** Compares a manifest with the job as it is deployed, with the bucket, and with what the stream still has. */
export async function compareManifest(
  ports: RestorePorts,
  manifest: Manifest,
  { maxParallelism, operators }: Pick<Job, 'maxParallelism' | 'operators'>,
): Promise<RestoreCheck> {
  const deployed = { maxParallelism, operators: await describeOperators(ports, operators) };
  const stream = await ports.reader.describe();
  const { incarnation } = stream;
  const mapped = await checkMappings(ports.mappings, operators, incarnation.name);
  return {
    manifest,
    differences: [
      ...compareContracts(manifest, deployed),
      ...findOtherStreams(manifest, incarnation),
      ...mapped.differences,
    ],
    gaps: await findGaps(ports, manifest, stream),
    missing: await findMissing(ports, manifest),
    warnings: mapped.warnings,
  };
}

/** Refuses with everything that stands against a restore, so that one look tells all that there is to do. */
export function refuseRestore(check: RestoreCheck, order: RestoreOrder): void {
  const { allowNonRestoredState, acceptsGaps } = order;
  const against = [
    ...check.missing.map((name) => `file ${name} is not in the bucket: take another manifest`),
    ...check.differences
      .filter(({ isLoss }) => !(isLoss && allowNonRestoredState))
      .map(({ text, remedy }) => `${text}: ${remedy}`),
    ...(acceptsGaps
      ? []
      : check.gaps.map((gap) => `${gap}: accept the gap, or take a newer manifest`)),
  ];
  if (against.length === 0) return;
  throw new HoldfastError(
    'invalid',
    `job cannot be restored from ${order.manifest}; nothing has been changed. ${against.length} ${against.length === 1 ? 'thing stands' : 'things stand'} against it:\n- ${against.join('\n- ')}`,
  );
}

/** Objects that are asked for at once. */
const objectsAtOnce = 32;

async function findMissing(ports: RestorePorts, manifest: Manifest): Promise<string[]> {
  const names = listManifestFiles(manifest.job, manifest);
  const areThere = await inParallel(names, objectsAtOnce, (name) => hasObject(ports.objects, name));
  return names.filter((_, at) => areThere[at] !== true);
}

const hourMs = 3600 * 1000;

/** R9: positions mean nothing in another stream, also where it has the same name. */
function findOtherStreams(
  { channels }: Manifest,
  incarnation: StreamIncarnation,
): ContractDifference[] {
  const other = channels.find(({ channel }) => !isSameStream(channel.stream, incarnation));
  if (other === undefined) return [];
  return [
    {
      text: `the manifest's positions are of stream ${originOf(other.channel.stream)}, the job reads ${originOf(incarnation)}`,
      remedy: 'take a manifest of this stream, or deploy the job on the stream that it was made of',
      isLoss: false,
    },
  ];
}

function isSameStream(a: StreamIncarnation, b: StreamIncarnation): boolean {
  return originOf(a) === originOf(b);
}

async function findGaps(
  ports: RestorePorts,
  manifest: Manifest,
  { incarnation, retentionHours }: StreamDescription,
): Promise<string[]> {
  const shards = new Set((await ports.reader.listShards()).map(({ shardId }) => shardId));
  const gaps: string[] = [];
  for (const { channel, progress } of manifest.channels) {
    if (progress.isFinished) continue;
    if (!isSameStream(channel.stream, incarnation)) continue;
    // Of a channel that has read nothing yet, everything since it was begun.
    const seenAtMs =
      progress.position === undefined ? progress.committedAtMs : progress.checkedAtMs;
    const unseenMs = ports.system.now() - seenAtMs;
    const since = `it was read up to ${new Date(seenAtMs).toISOString()}, ${Math.round(unseenMs / hourMs)} h ago`;
    if (!shards.has(channel.shardId)) {
      gaps.push(`shard ${channel.shardId} has left the stream; ${since}`);
    } else if (
      unseenMs > (retentionHours - 1) * hourMs &&
      !(await isReadable(ports, channel.shardId, progress.position?.sequence))
    ) {
      gaps.push(
        `records of shard ${channel.shardId} have left the stream after ${retentionHours} h; ${since}`,
      );
    }
  }
  return gaps;
}

async function isReadable(
  { reader }: RestorePorts,
  shardId: string,
  after: string | undefined,
): Promise<boolean> {
  if (after === undefined) return false;
  try {
    const first = await reader.read(shardId, after)[Symbol.asyncIterator]().next();
    return first.done !== true;
  } catch (thrown) {
    if (isHoldfastError(thrown, 'invalid')) return false;
    throw thrown;
  }
}
