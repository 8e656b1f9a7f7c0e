import { takeUsage, useEmulators, type EmulatorPlaces } from '../embedded/emulators.ts';
import { assertTotals, findDifferences } from './compare-totals.ts';
import type { ContenderId } from './contenders.ts';
import { createEventBatches, type BatchesShape, type EventBatches } from './event-batches.ts';
import { createHoldfastPeer } from './holdfast-peer.ts';
import type { MeasuredPeer } from './measured-peer.ts';
import type { KinesisEvent, Peer } from './peer.ts';
import { createPowertoolsPeer } from './powertools-peer.ts';
import { createRestatePeer } from './restate-peer.ts';
import type { RestatePlaces } from './restate-server.ts';
import { createUpdatePeer } from './update-peer.ts';

/*
 * A process that lets one contender process all batches, and prints what that took as one line of JSON:
 *
 *   node peer-process.ts <order as JSON>
 *
 * It ends in failure where the contender has kept anything else than a plain computation says.
 */

export interface PeerOrder {
  readonly contender: ContenderId;
  /** Names its tables. */
  readonly runId: string;
  readonly shape: BatchesShape;
  readonly warmUpBatches: number;
  readonly emulators: EmulatorPlaces;
  readonly restate?: RestatePlaces | undefined;
}

const order = JSON.parse(process.argv[2]!) as PeerOrder;
useEmulators(order.emulators);
const events = createEventBatches(order.shape, order.warmUpBatches);
const peer = await createPeer(order, events);
const measured = await measure(order, peer, events);
process.stdout.write(`${JSON.stringify(measured)}\n`);
await peer.close();
process.exit();

async function createPeer(
  { contender, runId, restate }: PeerOrder,
  { reader }: EventBatches,
): Promise<Peer> {
  switch (contender) {
    case 'powertools':
      return createPowertoolsPeer(runId);
    case 'update':
      return createUpdatePeer(runId);
    case 'restate-event':
      return createRestatePeer(runId, restate!, 'event');
    case 'restate-key':
      return createRestatePeer(runId, restate!, 'key');
    case 'holdfast-state':
      return createHoldfastPeer(runId, reader, 'state');
    case 'holdfast-changelog':
      return createHoldfastPeer(runId, reader, 'changelog');
    case 'holdfast-rows':
      return createHoldfastPeer(runId, reader, 'rows');
  }
}

async function measure(
  { contender, emulators }: PeerOrder,
  peer: Peer,
  { warmUps, batches, measuredEvents, totals }: EventBatches,
): Promise<MeasuredPeer> {
  await peer.prepare();
  for (const batch of warmUps) await peer.deliver(batch);

  await takeUsage(emulators);
  const ownBefore = peer.ownRequests?.() ?? 0;
  const serverBefore = peer.serverCpuMicros?.();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  for (const batch of batches) await peer.deliver(batch);
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const serverAfter = peer.serverCpuMicros?.();
  const ownRequests = (peer.ownRequests?.() ?? 0) - ownBefore;
  const usage = await takeUsage(emulators);

  assertTotals(contender, totals, await peer.readTotals());
  // What it promises, looked at once: a batch comes again, as it does where its answer was lost.
  const repeated = await deliverAgain(peer, batches.at(-1)!);
  const recut = await deliverAgain(peer, cutAnew(batches.at(-2)!, batches.at(-1)!));
  return {
    events: measuredEvents,
    seconds,
    clientCpuMicros: cpu.user + cpu.system,
    ...(serverBefore === undefined || serverAfter === undefined
      ? {}
      : { serverCpuMicros: serverAfter - serverBefore }),
    ownRequests,
    usage,
    ...{ repeated, recut },
  };
}

/** How often events count that have been delivered before. */
async function deliverAgain(peer: Peer, event: string): Promise<'once' | 'twice'> {
  const before = await peer.readTotals();
  await peer.deliver(event);
  return findDifferences(before, await peer.readTotals()).length === 0 ? 'once' : 'twice';
}

/** The second half of a batch with the first half of the next one. */
function cutAnew(one: string, next: string): string {
  const [a, b] = [one, next].map((event) => (JSON.parse(event) as KinesisEvent).Records);
  return JSON.stringify({
    Records: [...a!.slice(a!.length >> 1), ...b!.slice(0, b!.length >> 1)],
  });
}
