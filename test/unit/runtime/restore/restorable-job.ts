import { deadLetterSink } from '../../../../shared/core/emission.ts';
import type { Manifest } from '../../../../shared/core/manifest.ts';
import type { ManifestReference } from '../../../../shared/core/registry.ts';
import type { Operator } from '../../../../shared/operator/operator.ts';
import type { OperatorCalls } from '../../../../shared/ports/operator-calls.ts';
import type { SweptSink } from '../../../../shared/ports/sink.ts';
import type { StreamMappings } from '../../../../shared/ports/stream-mappings.ts';
import { makeSavepoint, type SavepointOrder } from './make-savepoint.ts';
import {
  completeManifest,
  registerPending,
  writeManifest,
} from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { describeOperator } from '../../../../shared/runtime/describe-operator.ts';
import { restoreJob } from './restore-job.ts';
import type {
  RestoreOrder,
  RestorePorts,
} from '../../../../shared/runtime/restore/restore-order.ts';
import { visitChannel } from '../../../../shared/runtime/visit-channel.ts';
import { createJob, keyGroups, type Job, type JobOptions } from '../job-fixture.ts';
import { soundMapping } from './sound-mapping.ts';

export const minute = { remainingMs: () => 60_000 };

/** A job with what it takes to make checkpoints and savepoints of it, and to restore it. */
export async function createRestorableJob(options: JobOptions = {}) {
  const job = await createJob(options);
  let operator = job.operator;
  const calls = callsOf(job, () => operator);
  const ports = restorePortsOf(job, calls);
  const facts = () => ({
    maxParallelism: keyGroups,
    operators: [describeOperator(operator)],
    note: '',
    tags: {},
  });
  let restores = 0;
  let number = 0;
  return {
    job,
    ports,
    /** Deploys other code under the same id. */
    deploy: (other: Operator): void => {
      operator = other;
    },
    currentOperator: () => operator,
    /** Delivers everything that a shard has to a new environment. */
    deliver: (shardId: string) =>
      job.createEnvironment({ operator }).deliver(job.records(shardId), { shardId }),
    async checkpoint(): Promise<ManifestReference & { readonly manifest: Manifest }> {
      const { generation } = (await job.control.readJob(job.name))!;
      const pending = await registerPending(ports, {
        kind: 'checkpoint',
        generation,
        label: '',
        timeoutMs: 60_000,
      });
      const manifest = await writeManifest(ports, pending, facts());
      return { ...(await completeManifest(ports, pending, manifest))!, manifest };
    },
    savepoint(label: string, order: Partial<SavepointOrder> = {}): Promise<ManifestReference> {
      number += 1;
      const execution = `e${number}`;
      return makeSavepoint(ports, { label, execution, note: '', tags: {}, stops: false, ...order });
    },
    restore(manifest: string, order: Partial<RestoreOrder> = {}) {
      restores += 1;
      return restoreJob(ports, {
        restore: `r${restores}`,
        manifest,
        allowNonRestoredState: false,
        acceptsGaps: false,
        areTablesLost: false,
        ...order,
      });
    },
  };
}

export type RestorableJob = Awaited<ReturnType<typeof createRestorableJob>>;

function callsOf(job: Job, operator: () => Operator): OperatorCalls {
  return {
    describe: async () => describeOperator(operator()),
    visit: async (_, { shardId, goal, hold, acceptsGaps }) => {
      const { runtime } = job.createEnvironment({
        operator: operator(),
        ...(hold === undefined ? {} : { hold }),
        acceptsGaps: acceptsGaps === true,
      });
      return visitChannel(runtime, shardId, goal, minute);
    },
  };
}

function restorePortsOf(job: Job, calls: OperatorCalls): RestorePorts {
  const { control, objects, system, telemetry, state, hints, reader, tables } = job;
  const { id } = job.operator;
  const sinks: SweptSink[] = [
    { operator: id, name: 'entries', table: tables.entries, sink: tables.entries },
    { operator: id, name: 'totals', table: tables.totals, sink: tables.totals },
    { operator: id, name: deadLetterSink, table: tables.deadLetters, sink: tables.deadLetters },
  ];
  const stores = { control, objects, system, telemetry, state, hints, reader };
  const mappings: StreamMappings = {
    read: async () => soundMapping((await reader.describe()).incarnation.name),
  };
  return { job: job.name, ...stores, calls, sinks, mappings };
}
