import { randomUUID } from 'node:crypto';
import {
  CreateStateMachineCommand,
  DeleteStateMachineCommand,
  DescribeExecutionCommand,
  StartExecutionCommand,
  type DescribeExecutionCommandOutput,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import type { ClinicSupplies } from '../clinic.ts';
import { createWitness, type Witness } from '../lambda/create-witness.ts';
import { waitFor } from '../poll-until.ts';
import { createDefinition, type WorkflowInput } from './definition.ts';

export interface WorkflowBed {
  readonly client: SFNClient;
  readonly machineArn: string;
  readonly witness: Witness;
  readonly patience: number;
  /** The execution that succeeds, once it was started: the probes look at it one after the other. */
  succeeding?: StartedExecution;
}

export interface StartedExecution {
  readonly name: string;
  readonly arn: string;
  readonly startedAtMs: number;
}

export async function prepareWorkflow(supplies: ClinicSupplies): Promise<WorkflowBed> {
  const { clients, temporary, patience } = supplies;
  const client = clients.stepFunctions;
  const witness = await createWitness(supplies, 'steps');
  const { stateMachineArn: machineArn = '' } = await client.send(
    new CreateStateMachineCommand({
      ...{ name: temporary.name('machine'), type: 'STANDARD', roleArn: witness.roleArn },
      definition: JSON.stringify(createDefinition(witness.arn)),
    }),
  );
  temporary.put(`state machine ${machineArn}`, () =>
    client.send(new DeleteStateMachineCommand({ stateMachineArn: machineArn })),
  );
  return { client, machineArn, witness, patience };
}

export async function startExecution(
  { client, machineArn }: WorkflowBed,
  kind: WorkflowInput['kind'],
): Promise<StartedExecution> {
  const name = `${kind}-${randomUUID()}`;
  const input: WorkflowInput = { run: randomUUID(), final: randomUUID(), kind };
  const startedAtMs = Date.now();
  const { executionArn: arn = '' } = await client.send(
    new StartExecutionCommand({
      ...{ stateMachineArn: machineArn, name, input: JSON.stringify(input) },
    }),
  );
  return { name, arn, startedAtMs };
}

/** @returns how it is, ended or not, when it has ended or the limit is over */
export async function awaitEnd(
  { client, patience }: WorkflowBed,
  { arn }: StartedExecution,
): Promise<DescribeExecutionCommandOutput> {
  let found: DescribeExecutionCommandOutput | undefined;
  await waitFor(
    async () => {
      found = await client.send(new DescribeExecutionCommand({ executionArn: arn }));
      return found.status !== 'RUNNING';
    },
    { limitMs: 30_000 * patience },
  );
  return found!;
}
