import { checkpointingSchema } from '../../shared/config/checkpointing.ts';
import { writeCoordinatorEnvironment } from '../../shared/config/coordinator-environment.ts';
import {
  writeEnvironment,
  writeHeartbeatEnvironment,
  writeRegistrarEnvironment,
} from '../../shared/config/environment.ts';
import { writeWorkflowEnvironment } from '../../shared/config/workflow-environment.ts';

/** A function of a job: its folder in `functions`, and the environment that it reads when it is loaded. */
export interface ColdFunction {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
}

const operator = 'flight-delays';
const storage = { controlTable: 'control', bucket: 'checkpoints' };
const job = {
  ...{ job: 'flight-delays', ...storage },
  streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/source',
};
const tables = { stateTable: 'state', deadLetterTable: 'dead-letters' };
const sinks = { airports: 'upsert', alerts: 'append', hours: 'append', late: 'append' } as const;
const operatorFunctions = new Map([[operator, 'operator']]);

// What Lambda sets by itself. No request is made: nothing is asked for credentials.
const lambda = { AWS_REGION: 'us-east-1' };

export const coldFunctions: readonly ColdFunction[] = [
  {
    name: operator,
    environment: writeEnvironment({
      ...{ ...job, ...tables, operator, maxParallelism: 128, retentionHours: 24 },
      sinks: new Map(Object.keys(sinks).map((name) => [name, name])),
    }),
  },
  {
    name: 'coordinator',
    environment: writeCoordinatorEnvironment({
      ...{ ...job, operatorFunctions, backup: undefined },
      checkpointing: checkpointingSchema.parse({}),
    }),
  },
  {
    name: 'workflow-steps',
    environment: writeWorkflowEnvironment({
      ...{ ...job, ...tables, operatorFunctions, backup: undefined },
      sinks: Object.entries(sinks).map(([name, kind]) => ({ operator, name, kind, table: name })),
      mappings: new Map([[operator, '11111111-2222-3333-4444-555555555555']]),
    }),
  },
  { name: 'register-job', environment: writeRegistrarEnvironment(storage) },
  {
    name: 'heartbeat',
    environment: writeHeartbeatEnvironment({ ...job, behindSeconds: 60 }),
  },
].map(({ name, environment }) => ({ name, environment: { ...environment, ...lambda } }));
