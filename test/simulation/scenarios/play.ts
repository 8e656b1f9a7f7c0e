import type { Execution } from '../../../localstack/embedded/step-functions/execution.ts';
import type { JsonValue } from '../../../localstack/embedded/step-functions/json-value.ts';
import type { CheckpointSettings } from '../../../shared/core/coordination.ts';
import { collectGarbage } from '../../../shared/runtime/checkpoint/collect-garbage.ts';
import { runCoordinator } from '../../../shared/runtime/checkpoint/run-coordinator.ts';
import { noDeadline } from '../../../shared/runtime/deadline.ts';
import { abortHold } from '../../../shared/runtime/restore/hold.ts';
import { createEnvironment, type Environment } from '../data-path/deployment.ts';
import type { Entry, Message } from '../engine/ledger.ts';
import type { Process } from '../engine/processes.ts';
import { createWorkflows, type WorkflowName } from '../system/actors/workflows.ts';
import { auditRetained } from '../system/audit-manifests.ts';
import { auditRestored, auditUnswept } from '../system/audit-restore.ts';
import { openGate, sweepAll, takeCheckpoint } from '../system/calm-world.ts';
import {
  createSystemWorld,
  deliver,
  visit,
  type Code,
  type SystemWorld,
} from '../system/system-world.ts';
import { tellTrace } from '../tell-trace.ts';
import { createActor, type Actor, type Casting } from './actor.ts';

/** Records of a shard that are delivered together. */
export interface Batch {
  /** Number of the shard, in the order in which they were opened. @default 0 */
  readonly shard?: number;
  /** Number of the first record of the shard, and of the one behind the last. @default all of them */
  readonly from?: number;
  readonly to?: number;
  /** Most records in a unit. @default 10 */
  readonly unit?: number;
  /** Where it runs: one of this name stays warm. @default one of its own */
  readonly environment?: string;
}

export interface TickOptions {
  /** Checkpoints that are kept. @default 3 */
  readonly retained?: number;
  /** Segments that are worth merging. @default 256 */
  readonly mergeAfter?: number;
}

/**
 * A job of one operator, the ledger, in a world where nothing moves but what the script moves, call by call. What was begun is
 * called by its name, which the story tells when something is found.
 */
export interface Play {
  readonly world: SystemWorld;
  /** Every call so far, in order. */
  readonly trace: readonly string[];
  /** Puts an event under its account: the nth is an `add` with id n of time 100 + 3 n, but for what is given. */
  put(account: string, entry?: Partial<Entry>): void;
  /** Puts something that is no event. */
  putMessage(account: string, message: Message): void;
  /** Splits an open shard in the middle; its children have the next two numbers. */
  split(shard: number): void;
  /** From now on processes begin with code of this flavour. */
  deploy(flavour: string): void;
  /** One delivery of the trigger. */
  deliver(name: string, batch?: Batch): Actor;
  /** As the trigger goes on: delivers the batch until it is done. */
  redeliver(batch?: Batch): Promise<void>;
  /** One tick of the coordinator, a minute after whatever was before. */
  tick(name: string, options?: TickOptions): Actor;
  /** A collection of garbage with no grace for what is pending behind its time. */
  collect(name: string): Actor;
  /** The savepoint's workflow. */
  savepoint(label: string, options?: { readonly stops: boolean }): Actor;
  /** The restore's workflow, from the object of a manifest; one that goes on with another has its name. */
  restore(name: string, manifest: string, options?: { readonly goesOnWith: string }): Actor;
  /** Gives up the hold that the job is under, as somebody who has lost patience does. */
  abort(name: string): Actor;
  /** What the command line asks the function of the steps. */
  ask(name: string, step: string, input: Readonly<Record<string, JsonValue>>): Actor;
  /** Lets time pass; it stands still otherwise, but where somebody sleeps. */
  pass(ms: number): void;
  /** DynamoDB collects the items whose time is over, at the last moment at which the oldest record can still come again. */
  collectExpired(): void;
  /** Every shard is read to its tip, in one go. */
  read(): Promise<void>;
  /** A tick that makes a checkpoint, in one go; the object of its manifest. */
  checkpoint(): Promise<string>;
  /** The object of a savepoint's manifest. */
  manifestOf(label: string): string;
  /** All who were begun go on to their ends, in the order in which they were begun, and every shard is read to its tip. */
  calm(): Promise<void>;
  /** What the auditors find, before and after everything is swept; where they find something, with the story. */
  audit(): Promise<string[]>;
}

const minuteMs = 60_000;

/** Deliveries of one batch, until it is taken not to come to its end. */
const redeliveriesMax = 100;

/** Visits of one shard, until it is left where it is: the auditors say so. */
const visitsMax = 40;

export interface PlayOptions {
  /** @default 1 */
  readonly shards?: number;
  /** Code with the flavour `A` tells nothing of events with even numbers; none may delete then. @default false */
  readonly hasOtherLogic?: boolean;
}

export async function openPlay(options: PlayOptions = {}): Promise<Play> {
  const world = await createSystemWorld({
    seed: 'play',
    shards: options.shards ?? 1,
    hasOtherLogic: options.hasOtherLogic ?? false,
  });
  let code: Code = { flavour: '', version: 1 };
  const castings: Casting[] = [];
  const environments = new Map<string, Environment>();
  const ends: (() => Promise<void>)[] = [];
  const trace: string[] = [];
  let entries = 0;
  let deliveries = 0;
  let checkpoints = 0;

  const cast = (name: string): Casting => {
    if (castings.some(({ actor }) => actor.name === name)) {
      throw new Error(`${name} is there already; give it another name`);
    }
    const casting = createActor(name, { world, trace, code: () => code });
    castings.push(casting);
    return casting;
  };
  /** Somebody who makes calls to what managers see. */
  const manage = (
    name: string,
    work: (ports: ReturnType<Casting['stage']['portsOf']>) => Promise<unknown>,
  ): Actor => {
    const { actor, stage, perform } = cast(name);
    perform(async (process: Process) => {
      await work(stage.portsOf(process));
      return 'done';
    });
    return actor;
  };
  const follow = async (execution: Execution): Promise<string> => {
    await execution.settled;
    const { status, cause } = execution.state();
    return status === 'SUCCEEDED' ? status : `${status}: ${cause}`;
  };
  const workflow = (name: string, which: WorkflowName, input: JsonValue): Actor => {
    const { actor, stage, conduct } = cast(name);
    const workflows = createWorkflows(stage);
    ends.push(() => workflows.stop());
    conduct(() => follow(workflows.start(which, input)));
    return actor;
  };
  const environmentOf = (name: string): Environment => {
    const environment = environments.get(name) ?? createEnvironment(name);
    environments.set(name, environment);
    return environment;
  };

  const play: Play = {
    ...{ world, trace },
    put(account, entry = {}) {
      entries += 1;
      const id = entries;
      world.put(account, { account, id, kind: 'add', at: 100 + 3 * id, ...entry });
    },
    putMessage: world.put,
    split: (shard) => void world.stream.split(world.stream.shards()[shard]!.shardId),
    deploy: (flavour) => void (code = { ...code, flavour }),
    deliver(name, batch = {}) {
      const { actor, stage, perform } = cast(name);
      const { shardId, records } = world.stream.shards()[batch.shard ?? 0]!;
      perform(async ({ owner }) => {
        const environment = environmentOf(batch.environment ?? name);
        const runs = { ...environment, ...code };
        const outcome = await deliver(world, stage.gate, owner, runs, {
          ...{ shardId, records: records.slice(batch.from ?? 0, batch.to) },
          ...{ draw: stage.draw, unitRecordsMax: batch.unit ?? 10 },
        });
        return outcome.kind === 'done' ? 'done' : `handed back: ${outcome.reason}`;
      });
      return actor;
    },
    async redeliver(batch = {}) {
      let outcome = '';
      for (let times = 0; times < redeliveriesMax; times += 1) {
        deliveries += 1;
        outcome = await play.deliver(`trigger-${deliveries}`, batch).goOn();
        if (outcome === 'done') return;
      }
      throw new Error(`a batch is not done in ${redeliveriesMax} deliveries: ${outcome}`);
    },
    tick(name, { retained = 3, mergeAfter = 256 } = {}) {
      world.system.advance(minuteMs);
      return manage(name, (ports) => {
        const settings: CheckpointSettings = {
          ...{ intervalMs: minuteMs, timeoutMs: 10 * minuteMs, minPauseMs: 0 },
          ...{ maxConcurrent: 1, tolerableFailures: 3, retained },
        };
        const coordinator = {
          ...ports,
          metrics: { publish: () => undefined },
          mergeThresholds: { segmentsMax: mergeAfter, segmentBytesMax: 1e9 },
        };
        // It leaves the next checkpoint to the next tick.
        return runCoordinator(coordinator, settings, { remainingMs: () => minuteMs - 1 });
      });
    },
    collect: (name) =>
      manage(name, (ports) =>
        collectGarbage(ports, { graceMs: 0, dryRun: false, deadline: noDeadline }),
      ),
    savepoint: (label, { stops } = { stops: false }) =>
      workflow(label, 'savepoint', { label, stops }),
    restore: (name, manifest, { goesOnWith } = { goesOnWith: name }) =>
      workflow(name, 'restore', { restore: goesOnWith, manifest }),
    abort(name) {
      const { hold } = world.present();
      if (hold === undefined) throw new Error('nobody holds the job');
      return manage(name, (ports) => abortHold(ports, hold.id));
    },
    ask(name, step, input) {
      const { actor, stage, conduct } = cast(name);
      const workflows = createWorkflows(stage);
      conduct(() =>
        workflows.ask(step, input).then(
          () => 'done',
          (thrown: unknown) => (thrown as Error).message,
        ),
      );
      return actor;
    },
    pass: (ms) => world.system.advance(ms),
    collectExpired() {
      const { incarnation, retentionHours } = world.stream;
      world.state.collectExpired(incarnation.createdAtMs / 1000 + (retentionHours + 23) * 3600);
    },
    read: () => readToTips(world, code),
    async checkpoint() {
      checkpoints += 1;
      await play.tick(`checkpoint-${checkpoints}`).goOn();
      return world.registry().complete.findLast(({ kind }) => kind === 'checkpoint')!.object;
    },
    manifestOf(label) {
      const found = world.registry().complete.find((one) => one.label === label);
      if (found !== undefined) return found.object;
      throw new Error(`there is no savepoint ${label}`);
    },
    async calm() {
      for (const { actor, sleepers, isOver } of castings) {
        if (!isOver()) await actor.goOn();
        for (const sleeper of sleepers) await sleeper.goOn();
      }
      await readToTips(world, code);
    },
    async audit() {
      for (const end of ends) await end();
      const findings = [...world.findings, ...castings.flatMap(({ unspent }) => unspent())];
      findings.push(...(await auditUnswept(world)));
      await sweepAll(world);
      await takeCheckpoint(world);
      findings.push(...(await auditRetained(world)), ...(await auditRestored(world)));
      return findings.length === 0 ? [] : [...findings, tellTrace({ findings, trace })];
    },
  };
  return play;
}

/** Parents before their children, as the shards are listed. */
async function readToTips(world: SystemWorld, code: Code): Promise<void> {
  const owner = { name: 'patrol', isDead: false };
  for (const { shardId } of world.stream.shards()) {
    const order = { shardId, goal: { kind: 'tip' } } as const;
    for (let visits = 0; visits < visitsMax; visits += 1) {
      const options = { order, draw: () => 'none' as const, unitRecordsMax: 10 };
      if ((await visit(world, openGate, owner, code, options)).isThere) break;
    }
  }
}
