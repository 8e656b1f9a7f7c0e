import { isDeepStrictEqual } from 'node:util';
import { channelId, type Channel } from '../../../shared/core/channel.ts';
import { decodeManifest } from '../../../shared/core/manifest-codec.ts';
import type { Manifest } from '../../../shared/core/manifest.ts';
import { comparePositions, isPast, type Position } from '../../../shared/core/position.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import type { Hold, Job } from '../../../shared/ports/control-store.ts';
import { readReservation } from '../../../shared/runtime/restore/reservation.ts';
import { isUnborn } from '../../../shared/runtime/restore/unborn-job.ts';
import { auditState, keysOf } from '../engine/audit.ts';
import { auditRows, auditTables } from './audit-rows.ts';
import { readRule, viewOf, type Stores } from './stores.ts';

/** What must hold when the job's item has changed. */
export async function auditJob(stores: Stores, before: Job, after: Job): Promise<string[]> {
  const findings: string[] = [];
  const find = (text: string): void => {
    findings.push(`job, version ${after.version}: ${text}`);
  };
  if (after.generation < before.generation) find('its generation went back');
  const { hold } = after;
  if (after.generation !== before.generation) {
    if (hold === undefined || hold.id !== before.hold?.id) find('flipped under no hold');
    if (before.timeline.some(({ generation }) => generation >= after.generation)) {
      find(`generation ${after.generation} is used again`);
    }
    if (hold?.undo === undefined) {
      // R11, R12: there is nothing to go back to.
      if (!isUnborn(before)) find('flipped without an undo point');
    } else findings.push(...(await auditUndo(stores, before.generation, hold.undo)));
    findings.push(...(await auditLoaded(stores, after)));
  }
  const isTaken = hold !== undefined && hold.id !== before.hold?.id;
  if (isTaken && before.hold !== undefined && !isGivenBack(before.hold, hold)) {
    if (!before.hold.isFlipped && !isResting(before.hold)) {
      find(`${hold.owner} has taken the hold of ${before.hold.owner}`);
    }
    if (!isDeepStrictEqual(hold.before, before.hold)) find('a hold was forgotten');
  }
  if (hold === undefined && before.hold !== undefined) {
    if (isUnborn(after)) find('opened before it has begun');
    findings.push(...(await auditEndOfHold(stores, before, before.hold)));
  }
  return findings;
}

async function auditEndOfHold(stores: Stores, before: Job, hold: Hold): Promise<string[]> {
  if (hold.isFlipped) return auditRelease(stores, before);
  if (hold.before === undefined) return [];
  return [`job, version ${before.version + 1}: an abort has ended a hold of somebody else`];
}

/** Whom a restore may take a job from that has not flipped. */
function isResting({ kind }: Hold): boolean {
  return kind === 'stopped' || kind === 'unborn';
}

function isGivenBack(from: Hold, to: Hold): boolean {
  return !from.isFlipped && isDeepStrictEqual(from.before, to);
}

/** R2: at the flip every channel of the old generation stands where the undo point says, and is fenced. */
async function auditUndo(stores: Stores, generation: number, undo: string): Promise<string[]> {
  const manifest = await manifestAt(stores, undo);
  const held = new Map(manifest.channels.map((cut) => [channelId(cut.channel), cut.progress]));
  const findings: string[] = [];
  for (const { channel, progress } of stores.control.progressRows()) {
    if (progress.generation !== generation) continue;
    const there = held.get(channelId(channel));
    if (manifest.generation !== generation || !isSamePlace(there?.position, progress.position)) {
      findings.push(`flip: ${channel.shardId} does not stand where it can be undone to`);
    }
    if (progress.fence === undefined) findings.push(`flip: ${channel.shardId} has no fence`);
  }
  return findings;
}

/** R5, R10: at the flip every channel that was loaded is fenced, and every other one of the parent has no row that counts. */
async function auditLoaded(stores: Stores, { generation, hold }: Job): Promise<string[]> {
  const ports = { objects: stores.objects, job: stores.job };
  const { parent, forks } = (await readReservation(ports, generation))!;
  const forked = new Set(forks.map(({ channel }) => channel));
  const findings: string[] = [];
  for (const { channel, progress } of stores.control.progressRows()) {
    if (progress.generation === generation && progress.fence !== hold?.id) {
      findings.push(`flip: ${channel.shardId} is loaded without the fence`);
    }
    if (progress.generation === parent && !forked.has(channelId(channel))) {
      findings.push(`flip: ${channel.shardId} of generation ${parent} has no fork`);
    }
  }
  return findings;
}

/** R5: when a restored job is let go, its channels are where they were held, and every output counts that should. */
async function auditRelease(stores: Stores, { generation, hold }: Job): Promise<string[]> {
  const findings: string[] = [];
  const now = new Map(
    stores.control
      .progressRows()
      .filter(({ progress }) => progress.generation === generation)
      .map(({ channel, progress }) => [channelId(channel), progress]),
  );
  for (let one: Hold | undefined = hold; one !== undefined; one = one.before) {
    if (one.undo === undefined) continue;
    for (const { channel, progress: held } of (await manifestAt(stores, one.undo)).channels) {
      const progress = now.get(channelId(channel));
      if (held.position === undefined && !held.isFinished) continue;
      const isThere =
        progress !== undefined &&
        (held.isFinished
          ? progress.isFinished
          : progress.isFinished || !isPast(held.position!, progress.position));
      if (!isThere) findings.push(`release: ${channel.shardId} is not where it was held`);
    }
  }
  findings.push(...(await auditRows(stores, generation, 'release')));
  return findings;
}

/** What must hold when a channel's progress has moved to `next`. */
export function auditProgress(
  stores: Stores,
  job: Job,
  channel: Channel,
  next: Progress,
  from: Position | undefined,
): string[] {
  const where = `${channel.shardId} in generation ${next.generation}`;
  const findings: string[] = [];
  const { position } = next;
  if (next.generation !== job.generation) findings.push(`${where}: committed when it was over`);
  if (job.hold?.undo !== undefined && !job.hold.isFlipped) {
    findings.push(`${where}: committed behind the position that it is held at`);
  }
  if (job.hold?.isFlipped === true && next.fence === undefined) {
    findings.push(`${where}: lost its fence while it is held`);
  }
  if (position === undefined) return findings;
  if (from !== undefined && comparePositions(position, from) < 0) {
    findings.push(`${where}: progress went back`);
  }
  const view = viewOf(stores, next.generation, () => true);
  const shard = stores.stream.shard(channel.shardId);
  for (const key of keysOf(view, shard, position)) {
    findings.push(...auditState(view, where, shard, key, position));
  }
  return findings;
}

/** What must hold before the last sweep: what counts is what a straight run gives, with void rows beside it. */
export async function auditUnswept(stores: Stores): Promise<string[]> {
  const { generation } = (await stores.control.readJob(stores.job))!;
  return auditRows(stores, generation, 'before the sweep');
}

/** What must hold at the end, all records read, all that was late landed, and everything swept. */
export async function auditRestored(stores: Stores): Promise<string[]> {
  const job = (await stores.control.readJob(stores.job))!;
  const findings: string[] = [];
  if (job.hold !== undefined) findings.push(`end: the job is still held by ${job.hold.owner}`);
  const rule = await readRule(stores, job.generation);
  for (const sink of Object.values(stores.sinks)) {
    for (const row of [...sink.rows(), ...sink.removedRows()]) {
      if (rule({ ...row.source, position: row.position })) continue;
      findings.push(
        `end: a void row of ${row.key} is left, of generation ${row.source.generation}`,
      );
    }
  }
  const present = stores.control
    .progressRows()
    .filter(({ progress }) => progress.generation === job.generation);
  for (const shard of stores.stream.shards()) {
    const progress = present.find(({ channel }) => channel.shardId === shard.shardId)?.progress;
    const last = shard.records.at(-1);
    const target = last && { sequence: last.sequence, sub: 0 };
    if (progress === undefined || (target !== undefined && isPast(target, progress.position))) {
      findings.push(`end: ${shard.shardId} was not read to its end`);
    } else if (progress.fence !== undefined && !progress.isFinished) {
      findings.push(`end: ${shard.shardId} is still fenced`);
    }
  }
  return [...findings, ...(await auditTables(stores, job.generation))];
}

async function manifestAt({ objects, job }: Stores, name: string): Promise<Manifest> {
  return decodeManifest((await objects.read(name))!, name, { job });
}

function isSamePlace(a: Position | undefined, b: Position | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return comparePositions(a, b) === 0;
}
