import { randomUUID } from 'node:crypto';

import { ApiError } from './api-error.ts';
import type { Execution } from './execution.ts';
import type { HistoryEvent } from './execution-history.ts';
import { parseJson, type JsonObject } from './json-value.ts';
import { readPage, type Page } from './page.ts';
import { DATA_BYTES_MAX } from './state-error.ts';
import type { StateMachine, StateMachines } from './state-machines.ts';

/** One operation: its request's body to its answer's. Throws ApiError. */
export type Operation = (request: JsonObject) => JsonObject;

const NAME_LENGTH_MAX = 80;
const ARN_LENGTH_MAX = 256;
/** White space, brackets, wild cards, what URLs and shells treat specially, control characters. */
const forbiddenInNames = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u;
const statuses = ['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE'];

/** The operations of Step Functions that are there, by name. */
export function createStepFunctionsApi(
  machines: StateMachines,
): Readonly<Record<string, Operation>> {
  const findMachine = (request: JsonObject): StateMachine => {
    const arn = readArn(request, 'stateMachineArn', 'stateMachine');
    const found = machines.find(arn);
    if (found !== undefined) return found;
    throw new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
  };
  const findExecution = (request: JsonObject): { machine: StateMachine; execution: Execution } => {
    const arn = readArn(request, 'executionArn', 'execution');
    for (const machine of machines.list()) {
      const execution = machine.executions.get(arn.slice(arn.lastIndexOf(':') + 1));
      if (execution?.arn === arn) return { machine, execution };
    }
    throw new ApiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  };

  return {
    StartExecution(request) {
      const machine = findMachine(request);
      const name = readName(request);
      const input = readInput(request);
      const earlier = machine.executions.get(name);
      const isRepeated = earlier?.state().status === 'RUNNING' && earlier.input === input;
      if (earlier !== undefined && !isRepeated) {
        throw new ApiError('ExecutionAlreadyExists', `Execution Already Exists: '${earlier.arn}'`);
      }
      const { arn, startMs } = earlier ?? machine.start(name, input);
      return { executionArn: arn, startDate: secondsOf(startMs) };
    },

    DescribeExecution(request) {
      const { machine, execution } = findExecution(request);
      const { output, error, cause } = execution.state();
      return {
        ...summaryOf(machine, execution),
        input: execution.input,
        inputDetails: { included: true },
        ...(output !== undefined && { output, outputDetails: { included: true } }),
        ...(error !== undefined && { error }),
        ...(cause !== undefined && { cause }),
      };
    },

    ListExecutions(request) {
      const machine = findMachine(request);
      const status = readText(request, 'statusFilter');
      if (status !== undefined && !statuses.includes(status)) {
        throw invalidValue('statusFilter', status, `[${statuses.join(', ')}]`);
      }
      const executions = [...machine.executions.values()]
        .filter((execution) => status === undefined || execution.state().status === status)
        .reverse();
      return answerPage('executions', readPage(request, executions), (execution) =>
        summaryOf(machine, execution),
      );
    },

    StopExecution(request) {
      const { execution } = findExecution(request);
      const reason = { error: readText(request, 'error'), cause: readText(request, 'cause') };
      return { stopDate: secondsOf(execution.stop(reason)) };
    },

    GetExecutionHistory(request) {
      const { execution } = findExecution(request);
      const { events } = execution.history;
      const ordered = request['reverseOrder'] === true ? events.toReversed() : events;
      const hasData = request['includeExecutionData'] !== false;
      return answerPage('events', readPage(request, ordered), (event) => eventOf(event, hasData));
    },

    DescribeStateMachine(request) {
      const machine = findMachine(request);
      const { definition, roleArn } = machine;
      return { ...listingOf(machine), status: 'ACTIVE', definition, roleArn };
    },

    ListStateMachines(request) {
      return answerPage('stateMachines', readPage(request, machines.list()), listingOf);
    },
  };
}

function summaryOf(machine: StateMachine, execution: Execution): JsonObject {
  const { status, stopMs } = execution.state();
  return {
    executionArn: execution.arn,
    stateMachineArn: machine.arn,
    name: execution.name,
    status,
    startDate: secondsOf(execution.startMs),
    ...(stopMs !== undefined && { stopDate: secondsOf(stopMs) }),
    redriveCount: 0,
  };
}

function listingOf({ arn, name, createdMs }: StateMachine): JsonObject {
  return { stateMachineArn: arn, name, type: 'STANDARD', creationDate: secondsOf(createdMs) };
}

function eventOf(event: HistoryEvent, hasData: boolean): JsonObject {
  const { id, previousEventId, type, timeMs, details } = event;
  const { input, output, inputDetails, outputDetails, ...rest } = details?.value ?? {};
  const data = {
    ...(input !== undefined && { input }),
    ...(inputDetails !== undefined && { inputDetails }),
    ...(output !== undefined && { output }),
    ...(outputDetails !== undefined && { outputDetails }),
  };
  return {
    id,
    previousEventId,
    type,
    timestamp: secondsOf(timeMs),
    ...(details !== undefined && { [details.member]: { ...rest, ...(hasData && data) } }),
  };
}

function answerPage<Item>(
  member: string,
  { items, nextToken }: Page<Item>,
  render: (item: Item) => JsonObject,
): JsonObject {
  return { [member]: items.map(render), ...(nextToken !== undefined && { nextToken }) };
}

function readText(request: JsonObject, member: string): string | undefined {
  const value = request[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new ApiError('SerializationException', `member ${member} is no text`);
}

function readArn(request: JsonObject, member: string, type: string): string {
  const arn = readText(request, member);
  if (arn === undefined || arn === '' || arn.length > ARN_LENGTH_MAX) {
    throw invalidValue(member, arn, `between 1 and ${ARN_LENGTH_MAX} characters`);
  }
  if (new RegExp(`^arn:[^:]+:states:[^:]*:\\d{12}:${type}:[^:]+`).test(arn)) return arn;
  throw new ApiError(
    'InvalidArn',
    `Invalid Arn: 'Resource type not valid in this context: ${arn}'`,
  );
}

function readName(request: JsonObject): string {
  const name = readText(request, 'name') ?? randomUUID();
  if (name === '' || name.length > NAME_LENGTH_MAX) {
    throw invalidValue('name', name, `between 1 and ${NAME_LENGTH_MAX} characters`);
  }
  if (!forbiddenInNames.test(name)) return name;
  throw new ApiError('InvalidName', `Invalid Name: '${name}'`);
}

function readInput(request: JsonObject): string {
  const input = readText(request, 'input') ?? '{}';
  if (Buffer.byteLength(input) > DATA_BYTES_MAX) {
    throw invalidValue('input', undefined, `at most ${DATA_BYTES_MAX} bytes`);
  }
  if (parseJson(input) !== undefined) return input;
  throw new ApiError('InvalidExecutionInput', `Invalid State Machine Execution Input: '${input}'`);
}

function invalidValue(member: string, value: string | undefined, expected: string): ApiError {
  const shown = value === undefined ? '' : ` '${value.slice(0, 100)}'`;
  return new ApiError(
    'ValidationException',
    `1 validation error detected: Value${shown} at '${member}' failed to satisfy constraint: Member must be ${expected}`,
  );
}

/** The protocol's timestamps are seconds. */
function secondsOf(timeMs: number): number {
  return timeMs / 1_000;
}
