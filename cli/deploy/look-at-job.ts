import { channelId, type Channel } from '../../shared/core/channel.ts';
import { describeThrown, isHoldfastError } from '../../shared/core/errors.ts';
import type { Manifest } from '../../shared/core/manifest.ts';
import type { Job } from '../../shared/ports/control-store.ts';
import { readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import { describeOperators } from '../../shared/runtime/checkpoint/manifest-facts.ts';
import { readProgressOfAll, type ReadChannel } from '../../shared/runtime/checkpoint/read-cut.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { compareStates } from './check-deployment.ts';
import type { DeployedJob } from './deployed-job.ts';
import {
  isCommittedByNew,
  type SeenChannel,
  type SeenLetter,
  type Sight,
  type WatchRules,
} from './judge-watch.ts';

/** Requests at once. */
const requestsMax = 8;

/** What was there before a deployment. */
export interface Before {
  readonly channels: readonly SeenChannel[];
  readonly failures: number;
  /** Channel → its last dead letter. */
  readonly letters: ReadonlyMap<string, string>;
}

export const nothingBefore: Before = { channels: [], failures: 0, letters: new Map() };

/** Looks at a job right before it is deployed. */
export async function lookBefore({ ports, letters }: DeployedJob, job: Job): Promise<Before> {
  const channels = await readProgressOfAll(ports, job.generation);
  const last = await inParallel(channels, requestsMax, async ({ channel }) => {
    const [newest] = await letters.readNewest(channel, undefined, 1);
    return newest === undefined ? [] : [[channelId(channel), newest.place] as const];
  });
  const { failures } = await readRegistry(ports);
  return { channels: channels.map(describeChannel), failures, letters: new Map(last.flat()) };
}

/**
 * Looks at a job after it was deployed.
 *
 * @param refusals what is known to stand against the deployed code
 * @param rules undefined: streams are not looked into
 */
export async function lookAtJob(
  deployed: DeployedJob,
  before: Before,
  refusals: readonly string[],
  rules?: WatchRules,
): Promise<Sight> {
  const { ports } = deployed;
  const job = await ports.control.readJob(ports.job);
  if (job === undefined) {
    const lost = `job ${ports.job} has no item in its control table`;
    return { ...nothingSeen, refusals: [...refusals, lost] };
  }
  const { generation, hold } = job;
  const read = await readProgressOfAll(ports, generation);
  const { complete, failures, lastFailure } = await readRegistry(ports);
  const checkpoint = complete.findLast(({ kind, label }) => kind === 'checkpoint' && label === '');
  const letters = await inParallel(read, requestsMax, ({ channel }) =>
    readNewLetters(deployed, channel, before, rules),
  );
  return {
    channels:
      rules === undefined
        ? read.map(describeChannel)
        : [
            ...(await inParallel(read, requestsMax, (one) => lookInto(deployed, one, rules))),
            ...(await findUnborn(deployed, job, read)),
          ],
    checkpointAtMs: checkpoint?.completedAtMs ?? 0,
    ...{ failures, lastFailure, refusals },
    letters: letters.flat(),
    hold: hold === undefined ? undefined : `${hold.kind} ${hold.owner}`,
  };
}

const nothingSeen: Sight = {
  ...{ channels: [], letters: [], refusals: [] },
  ...{ checkpointAtMs: 0, failures: 0, lastFailure: undefined, hold: undefined },
};

function describeChannel({ channel, progress }: ReadChannel): SeenChannel {
  const { isFinished, version, committedAtMs } = progress;
  return { channel: channelId(channel), isFinished, version, committedAtMs };
}

async function readNewLetters(
  { letters }: DeployedJob,
  channel: Channel,
  before: Before,
  rules: WatchRules | undefined,
): Promise<SeenLetter[]> {
  const id = channelId(channel);
  const most = (rules?.deadLettersMax ?? 0) + 1;
  const found = await letters.readNewest(channel, before.letters.get(id), most);
  return found.map(({ reason, message }) => ({ channel: id, reason, message }));
}

/** Only where it matters: two reads of a shard in a second are two of the five that it gives to all. */
async function lookInto(
  { reader, ports }: DeployedJob,
  read: ReadChannel,
  rules: WatchRules,
): Promise<SeenChannel> {
  const seen = describeChannel(read);
  const isLooked =
    !seen.isFinished && !isCommittedByNew(seen, rules) && ports.system.now() >= rules.settledAtMs;
  if (!isLooked) return seen;
  const { channel, progress } = read;
  return {
    ...seen,
    hasUnread: await hasUnread(reader, channel.shardId, progress.position?.sequence),
  };
}

async function hasUnread(
  reader: DeployedJob['reader'],
  shardId: string,
  after: string | undefined,
): Promise<boolean> {
  try {
    for await (const { records, isEndOfShard, isAtTip } of reader.read(shardId, after)) {
      // The end of a shard is something to commit, too.
      if (records.length > 0 || isEndOfShard) return true;
      if (isAtTip) return false;
    }
    return true;
  } catch (thrown) {
    // Records that have left the stream before they were committed.
    if (isHoldfastError(thrown, 'invalid')) return true;
    throw thrown;
  }
}

/** Shards of operators that have committed nothing anywhere: new ones. */
async function findUnborn(
  { reader }: DeployedJob,
  job: Job,
  read: readonly ReadChannel[],
): Promise<SeenChannel[]> {
  const begun = new Set(read.map(({ channel }) => channel.operator));
  const unborn = job.operators.filter((operator) => !begun.has(operator));
  if (unborn.length === 0) return [];
  const shards = await reader.listShards();
  const are = await inParallel(shards, requestsMax, ({ shardId }) =>
    hasUnread(reader, shardId, undefined),
  );
  return unborn.flatMap((operator) =>
    shards.map(({ shardId }, at) => ({
      channel: `${operator}/${shardId}`,
      ...{ isFinished: false, version: 0, committedAtMs: 0 },
      hasUnread: are[at] === true,
    })),
  );
}

/** Asks the deployed functions what they declare, and compares it with what is stored. */
export async function askDeployed(
  { ports }: DeployedJob,
  manifest: Pick<Manifest, 'operators' | 'maxParallelism'> | undefined,
): Promise<string[]> {
  const job = await ports.control.readJob(ports.job);
  const operators = job?.operators ?? [];
  try {
    const contracts = await describeOperators(ports, operators);
    if (manifest === undefined) return [];
    return compareStates(manifest, contracts, operators).map(
      ({ text, remedy }) => `${text}: ${remedy}`,
    );
  } catch (thrown) {
    return [`the deployed code does not answer: ${describeThrown(thrown)}`];
  }
}
