import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
} from '../../../shared/adapters/memory/memory-sink.ts';
import { deadLetterSink } from '../../../shared/core/emission.ts';
import { encodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import { aggregate } from '../../unit/core/aggregate-fixture.ts';
import { auditCommit, type Auditable } from '../engine/audit.ts';
import { createDeployment, type Deployment } from './deployment.ts';
import { ledger, type Message, type Moods, type Part } from '../engine/ledger.ts';

/** The job of the model, whose every commit is audited. */
export interface World extends Deployment, Auditable {
  /** Puts one record, or one that aggregates several of keys of the same shard. */
  put(...parts: readonly Part[]): void;
  /** Puts a heartbeat into an open shard. */
  putHeartbeat(shardId: string, at: number): void;
}

export async function createWorld(options: {
  readonly seed: string;
  readonly shards: number;
  readonly throwsNow?: Moods['throwsNow'];
  /** Nothing goes wrong but time: no key may ever be past a cut then (P4). */
  readonly isCalm?: boolean;
}): Promise<World> {
  const throwsNow = options.throwsNow ?? (() => false);
  const sinks = {
    journal: createMemoryAppendSink(),
    balance: createMemoryUpsertSink(),
    deadLetters: createMemoryAppendSink(),
  };
  const deployment = await createDeployment({
    seed: options.seed,
    shards: options.shards,
    operatorFor: ({ flavour }) => ledger({ throwsNow, flavour }),
    sinks: new Map([
      ['journal', sinks.journal],
      ['balance', sinks.balance],
      [deadLetterSink, sinks.deadLetters],
    ]),
  });
  const { state, control, objects, stream, system, findings } = deployment;
  const entries = new Map<string, readonly Part[]>();
  const operator = ledger({ throwsNow, flavour: '' });
  const auditable: Auditable = { operator, state, control, objects, sinks, stream, entries };
  let arrivals = 0;
  const putRecord = (parts: readonly Part[], explicitHashKey?: string): void => {
    // Each record arrives a little later, so that arrival timers have something to wait for.
    arrivals += 1;
    const arrivalMs = system.now() + arrivals;
    const messages = parts.map(({ key, message }) => ({
      partitionKey: key,
      data: encodeMessage(message),
    }));
    const data = messages.length === 1 ? messages[0]!.data : aggregate(messages);
    const { sequence } = stream.put(parts[0]!.key, data, {
      arrivalMs,
      ...(explicitHashKey === undefined ? {} : { explicitHashKey }),
    });
    entries.set(sequence, parts);
  };
  return {
    ...deployment,
    ...auditable,
    ports: {
      ...deployment.ports,
      control: {
        ...control,
        commitProgress: async (job, channel, next, from) => {
          const outcome = await control.commitProgress(job, channel, next, from);
          if (outcome !== 'committed') return outcome;
          findings.push(...auditCommit(auditable, channel, next, from));
          if (options.isCalm === true && next.aheadMax !== undefined) {
            findings.push(
              `a key is past the cut at ${next.position?.sequence}, and nothing went wrong`,
            );
          }
          return outcome;
        },
      },
    },
    put: (...parts) => {
      putRecord(parts);
    },
    putHeartbeat: (shardId, at) => {
      const { from } = stream.shard(shardId).range;
      const message = { kind: 'heartbeat', at } as const;
      putRecord([{ key: 'heartbeat', message }], BigInt(`0x${from}`).toString());
    },
  };
}

function encodeMessage(message: Message): Uint8Array {
  if (message !== 'garbage' && message.kind === 'heartbeat') return encodeHeartbeat(message.at);
  return new TextEncoder().encode(message === 'garbage' ? '{' : JSON.stringify(message));
}
