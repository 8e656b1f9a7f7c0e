import { clonePinAgeMaxMs } from '../../../shared/core/registry.ts';
import type { OperatorCalls } from '../../../shared/ports/operator-calls.ts';
import { collectGarbage } from '../../../shared/runtime/checkpoint/collect-garbage.ts';
import { describeOperator } from '../../../shared/runtime/describe-operator.ts';
import {
  completeManifest,
  readManifest,
  registerPending,
  writeManifest,
} from '../../../shared/runtime/checkpoint/take-manifest.ts';
import { readReservation } from '../../../shared/runtime/restore/reservation.ts';
import { readBaseObject } from '../../../shared/runtime/restore/restore-steps.ts';
import { sweepSink } from '../../../shared/runtime/restore/sweep.ts';
import type { Gate } from '../engine/gate.ts';
import { keyGroups } from '../engine/job.ts';
import { gateManagerPorts } from './gated-managers.ts';
import { visit, type SystemWorld } from './system-world.ts';

const minute = { remainingMs: () => 60_000 };
const noFaults = () => 'none' as const;
const noVisits: OperatorCalls['visit'] = () =>
  Promise.reject(new Error('nobody is asked to visit'));

/** A gate at which nobody waits. */
export const openGate: Gate = {
  step: (_, __, effect) => effect(),
  drain: async () => undefined,
  forgetDead: () => undefined,
  strike: () => undefined,
  trace: [],
  strikes: new Map(),
};

/** What patrol and trigger make of a job that is let alone: every shard is read to its tip. */
export async function calmDown(world: SystemWorld): Promise<void> {
  const owner = { name: 'patrol', isDead: false };
  for (let round = 0; round < 3; round += 1) {
    for (const { shardId } of world.stream.shards()) {
      for (let tries = 0; tries < 8; tries += 1) {
        const order = { shardId, goal: { kind: 'tip' } } as const;
        const options = { order, draw: noFaults, unitRecordsMax: 10 };
        const { isThere } = await visit(
          world,
          openGate,
          owner,
          { flavour: 'Z', version: 100 },
          options,
        );
        if (isThere) break;
      }
    }
  }
}

export async function sweepAll(world: SystemWorld): Promise<void> {
  const owner = { name: 'sweep', isDead: false };
  const ports = gateManagerPorts(world, openGate, { owner, draw: noFaults, visit: noVisits });
  const { generation } = world.present();
  const made = await readReservation(ports, generation);
  if (made === undefined) return;
  const beginning = {
    generation,
    manifest: await readManifest(ports, made.manifest),
    base: await readBaseObject(ports, made.base),
  };
  for (const swept of ports.sinks) await sweepSink(ports, swept, beginning, minute);
}

/** A checkpoint of this moment; the name of its manifest. */
export async function takeCheckpoint(world: SystemWorld): Promise<string> {
  const owner = { name: 'checkpoint', isDead: false };
  const ports = gateManagerPorts(world, openGate, { owner, draw: noFaults, visit: noVisits });
  const { generation } = world.present();
  const request = { kind: 'checkpoint', generation, label: '', timeoutMs: 1e12 } as const;
  const pending = await registerPending(ports, request);
  const manifest = await writeManifest(ports, pending, {
    maxParallelism: keyGroups,
    operators: [describeOperator(world.operator)],
    note: '',
    tags: {},
  });
  return (await completeManifest(ports, pending, manifest))!.object;
}

/** More than machines' clocks differ, ms. */
const skewMaxMs = 600_000;

/** The job is looked after a day later, when the pins of clones that are not heard of any more are over (R12). */
export async function outliveClonePins(world: SystemWorld): Promise<void> {
  const owner = { name: 'collection', isDead: false };
  const ports = gateManagerPorts(world, openGate, { owner, draw: noFaults, visit: noVisits });
  world.system.advance(clonePinAgeMaxMs + skewMaxMs);
  await collectGarbage(ports, { graceMs: 0, dryRun: false });
}
