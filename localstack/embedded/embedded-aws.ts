import { createChaos, type ChaosKind, type ChaosSettings } from './chaos.ts';
import { createStack, planStack, type StackResource } from './create-stack.ts';
import type { EventSourceMapping } from './event-source/event-source-mapping.ts';
import type { MappingPace } from './event-source/shard-poller.ts';
import type { ServiceEndpoints } from './lambda/environment-variables.ts';
import type { InvocationResult } from './lambda/invocation-result.ts';
import type { LambdaFunction } from './lambda/lambda-function.ts';
import {
  startLocalServices,
  type DynamoDbEmulator,
  type LocalServices,
  type ServicePorts,
} from './local-services.ts';
import { findFunction } from './resources/function-resource.ts';
import type { StackServices } from './resources/resource-kind.ts';
import type { ScheduleRun } from './scheduler/schedule-run.ts';
import { assertScheduleSpeed, findSchedule, type EmbeddedSchedule } from './scheduler/schedule.ts';
import { seededRandom } from './seeded-random.ts';
import { createServiceClients, type ServiceClients } from './service-clients.ts';
import { createFunctionInvoker } from './step-functions/function-invoker.ts';
import { pauseAtSpeed } from './step-functions/pause.ts';
import { createStateMachines } from './step-functions/state-machines.ts';
import { readAssetsManifest } from './template/assets-manifest.ts';
import type { StackPlace } from './template/parameters.ts';
import { stackIdOf } from './template/physical-name.ts';
import { readTemplate } from './template/template.ts';

/** The account and region that the local Kinesis puts into its ARNs. */
const ACCOUNT_ID = '000000000000';
const REGION = 'us-east-1';

const defaultPace: MappingPace = {
  pollIntervalMsMin: 50,
  pollIntervalMsMax: 1_000,
  retryDelayMsMin: 25,
  retryDelayMsMax: 1_000,
  discoveryIntervalMs: 1_000,
};

export interface EmbeddedAwsOptions {
  /** `cdk.out/<Stack>.template.json`; the assets manifest lies beside it. */
  readonly templateFile: string;
  /** Values for the template's parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Decides all that AWS leaves open, and when faults strike. @default 1 */
  readonly seed?: number;
  /** @default no faults */
  readonly chaos?: ChaosSettings;
  /** Gets what functions print and what goes wrong, one line at a time. @default nothing is logged */
  readonly log?: (line: string) => void;
  /** @default free ports */
  readonly ports?: ServicePorts;
  /**
   * Where functions find the services, given where those are: for who listens in between. Asked once, before anything is created.
   *
   * @default the services themselves
   */
  readonly functionEndpoints?: (services: ServiceEndpoints) => Promise<ServiceEndpoints>;
  /** @default polls after 50 ms to 1 s, retries after 25 ms to 1 s, looks for shards every second */
  readonly pace?: Partial<MappingPace>;
  /**
   * How many times as fast as on AWS schedules tick: with 60, a rate of one minute is one second. With 0 they run only when
   * fired by hand.
   *
   * @default 1
   */
  readonly scheduleSpeed?: number;
  /**
   * How many times as fast as on AWS state machines wait, in Wait states and before they try again; timeouts keep their
   * length.
   *
   * @default 1
   */
  readonly stateMachineSpeed?: number;
  /** Wall clock of event source mappings, schedules and state machines, for tests of ages. @default Date.now */
  readonly nowMs?: () => number;
}

export interface EmbeddedFunctions {
  list(): readonly LambdaFunction[];
  /** By logical id, physical name or ARN. */
  get(name: string): LambdaFunction;
  /** Runs a function on an event and waits for it. */
  invoke(name: string, event: unknown): Promise<InvocationResult>;
  /** SIGKILL for all its environments; returns how many there were. */
  kill(name: string): number;
}

export interface EmbeddedSchedules {
  list(): readonly EmbeddedSchedule[];
  /** By logical id, name or ARN. */
  get(name: string): EmbeddedSchedule;
  /** Runs a schedule's target now, retries included, and waits for it. Its ticks go on as if nothing had happened. */
  fire(name: string): Promise<ScheduleRun>;
}

/** A stack that runs in this process and its children. */
export interface EmbeddedAws {
  readonly endpoints: ServiceEndpoints;
  readonly region: string;
  readonly accountId: string;
  readonly stackName: string;
  /** The template's Outputs, resolved. */
  readonly outputs: Readonly<Record<string, string>>;
  /** By logical id. */
  readonly resources: ReadonlyMap<string, StackResource>;
  /** What Ref gives. Throws for an unknown logical id. */
  physicalId(logicalId: string): string;
  readonly functions: EmbeddedFunctions;
  readonly mappings: readonly EventSourceMapping[];
  readonly schedules: EmbeddedSchedules;
  readonly dynamodb: DynamoDbEmulator;
  /** Faults may be turned on, changed and turned off while everything runs. */
  readonly chaos: {
    change(settings: ChaosSettings): void;
    counts(): Readonly<Record<ChaosKind, number>>;
  };
  /** Ends everything and waits until no process is left. A second call waits for the first. */
  stop(): Promise<void>;
}

/** Creates the stack that a synthesized template describes, on this machine, from nothing. */
export async function startEmbeddedAws(options: EmbeddedAwsOptions): Promise<EmbeddedAws> {
  const scheduleSpeed = options.scheduleSpeed ?? 1;
  assertScheduleSpeed(scheduleSpeed);
  const template = await readTemplate(options.templateFile);
  const location = { region: REGION, accountId: ACCOUNT_ID, stackName: template.stackName };
  const place: StackPlace = { ...location, stackId: stackIdOf(location) };
  const plan = planStack(template, place, options.parameters ?? {});
  const assets = await readAssetsManifest(options.templateFile, place);

  const functions = new Map<string, LambdaFunction>();
  const random = seededRandom(options.seed ?? 1);
  const chaos = createChaos(options.chaos);
  const log = options.log ?? (() => undefined);
  const nowMs = options.nowMs ?? Date.now;
  const stateMachines = createStateMachines({
    ...location,
    random: random.fork('state machines'),
    nowMs,
    pause: pauseAtSpeed(options.stateMachineSpeed ?? 1),
    log,
    ...createFunctionInvoker(functions, chaos, random.fork('tasks')),
  });
  const mappings: EventSourceMapping[] = [];
  const served = { functions, mappings, stateMachines };
  const localServices = await startLocalServices(served, options.ports);
  const clients = createServiceClients(localServices.endpoints, place.region);
  const services: StackServices = {
    place,
    ...clients,
    assets,
    lambdaHost: {
      region: place.region,
      endpoints: localServices.endpoints,
      random,
      chaos,
      log,
    },
    pace: { ...defaultPace, ...options.pace },
    nowMs,
    functions,
    mappings,
    stateMachines,
    schedules: [],
    scheduleSpeed,
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopAll(services, clients, localServices));
  try {
    const endpoints = await options.functionEndpoints?.(localServices.endpoints);
    const lambdaHost = { ...services.lambdaHost, ...(endpoints !== undefined && { endpoints }) };
    const { resources, outputs } = await createStack(plan, { ...services, lambdaHost });
    return {
      ...location,
      endpoints: localServices.endpoints,
      outputs,
      resources,
      physicalId(logicalId) {
        const resource = resources.get(logicalId);
        if (resource !== undefined) return resource.physicalId;
        throw new Error(
          `stack ${place.stackName} has no resource "${logicalId}"; known: ${[...resources.keys()].join(', ')}`,
        );
      },
      functions: {
        list: () => [...services.functions.values()],
        get: (name) => findFunction(services.functions, name),
        invoke: (name, event) =>
          findFunction(services.functions, name).invoke(JSON.stringify(event)),
        kill: (name) => findFunction(services.functions, name).kill(),
      },
      mappings: services.mappings,
      schedules: {
        list: () => [...services.schedules],
        get: (name) => findSchedule(services.schedules, name),
        // Not at once where there is none: a promise for whoever asked for one.
        fire: async (name) => findSchedule(services.schedules, name).fire(),
      },
      dynamodb: localServices.dynamodb,
      chaos: { change: (settings) => chaos.change(settings), counts: () => chaos.counts() },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * State machines first, so that none of them sees its functions die. Then all at once: mappings and schedules wait for
 * their running invocations, which only end with their functions.
 */
async function stopAll(
  services: StackServices,
  clients: ServiceClients,
  localServices: LocalServices,
): Promise<void> {
  await services.stateMachines.stop();
  const mappings = services.mappings.map((mapping) => mapping.stop());
  const schedules = services.schedules.map((schedule) => schedule.stop());
  const functions = [...services.functions.values()].map((target) => target.stop());
  await Promise.all([...mappings, ...schedules, ...functions]);
  clients.destroy();
  await localServices.stop();
}
