import type { InvocationResult } from '../lambda/invocation-result.ts';
import type { TaskState } from './definition.ts';
import type { Flow } from './flow.ts';
import type { Scope } from './json-path.ts';
import { parseJson, type JsonObject, type JsonValue } from './json-value.ts';
import { pause, unlessAborted } from './pause.ts';
import { limitSize, runtimeError, showData, StateError } from './state-error.ts';
import { readInvocation } from './task-resource.ts';

/**
 * One attempt of a Task. A function that is aborted or timed out by its state is not stopped, as on AWS: what it writes
 * can land while the next attempt runs.
 */
export async function runTask(state: TaskState, scope: Scope, flow: Flow): Promise<JsonValue> {
  const parameters = limitSize(state.parameters(scope), state.name);
  const timeoutSeconds = readTimeout(state.timeoutSeconds?.(scope));
  const events = eventsOf(state, parameters, timeoutSeconds, flow);
  const { functionName, payload } =
    state.functionArn === undefined
      ? readInvocation(parameters)
      : { functionName: state.functionArn, payload: parameters };
  events.scheduled();
  events.started();
  try {
    const invocation = flow.host.invoke(functionName, JSON.stringify(payload));
    if (invocation === undefined) throw noFunction(functionName);
    const result = await withTimeout(invocation, timeoutSeconds, flow.signal);
    const output = limitSize(outputOf(result, state), state.functionArn ?? state.name);
    events.succeeded(output);
    return output;
  } catch (error) {
    if (error instanceof StateError) events.failed(error);
    throw error;
  }
}

function readTimeout(value: JsonValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw runtimeError(`TimeoutSecondsPath gives ${showData(value)}, expected an integer from 1`);
}

async function withTimeout(
  invocation: Promise<InvocationResult>,
  timeoutSeconds: number | undefined,
  signal: AbortSignal,
): Promise<InvocationResult> {
  if (timeoutSeconds === undefined) return unlessAborted(invocation, signal);
  const ended = new AbortController();
  const expiry = pause(timeoutSeconds * 1_000, AbortSignal.any([signal, ended.signal])).then(() => {
    throw new StateError('States.Timeout', undefined);
  });
  try {
    return await Promise.race([invocation, expiry]);
  } finally {
    ended.abort();
  }
}

function outputOf(result: InvocationResult, { functionArn }: TaskState): JsonValue {
  switch (result.kind) {
    case 'success': {
      const payload = parseJson(result.payload) ?? null;
      return functionArn === undefined ? responseOf(payload, result) : payload;
    }
    case 'failed':
      // What the handler's error is called, or Runtime.ExitError, Sandbox.Timedout, …
      throw new StateError(
        result.errorType === '' ? 'Lambda.Unknown' : result.errorType,
        JSON.stringify({ errorType: result.errorType, errorMessage: result.errorMessage }),
      );
    case 'rejected':
      throw new StateError(
        result.reason === 'throttled'
          ? 'Lambda.TooManyRequestsException'
          : 'Lambda.AWSLambdaException',
        `${result.errorMessage} (Service: Lambda, Request ID: ${result.requestId})`,
      );
  }
}

/** What `lambda:invoke` answers. */
function responseOf(payload: JsonValue, { requestId }: InvocationResult): JsonObject {
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': requestId };
  return {
    ExecutedVersion: '$LATEST',
    Payload: payload,
    SdkHttpMetadata: { HttpHeaders: headers, HttpStatusCode: 200 },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: 200,
  };
}

function noFunction(functionName: string): StateError {
  return new StateError(
    'Lambda.ResourceNotFoundException',
    `Function not found: ${functionName} (Service: Lambda, Status Code: 404)`,
  );
}

/** A function's ARN as resource and `lambda:invoke` have events of different names. */
function eventsOf(
  state: TaskState,
  parameters: JsonValue,
  timeoutSeconds: number | undefined,
  { host, cursor }: Flow,
): {
  scheduled(): void;
  started(): void;
  succeeded(output: JsonValue): void;
  failed(error: StateError): void;
} {
  const isDirect = state.functionArn !== undefined;
  const prefix = isDirect ? 'LambdaFunction' : 'Task';
  const resource: JsonObject = isDirect ? {} : { resourceType: 'lambda', resource: 'invoke' };
  const timeout: JsonObject =
    timeoutSeconds === undefined ? {} : { timeoutInSeconds: timeoutSeconds };
  const request: JsonObject = isDirect
    ? { resource: state.functionArn, input: JSON.stringify(parameters) }
    : { ...resource, region: host.region, parameters: JSON.stringify(parameters) };
  const note = (type: string, details: JsonObject | undefined): void => {
    host.history.add(`${prefix}${type}`, details, cursor);
  };
  return {
    scheduled: () => note('Scheduled', { ...request, ...timeout }),
    started: () => note('Started', isDirect ? undefined : resource),
    succeeded: (output) => note('Succeeded', { ...resource, output: JSON.stringify(output) }),
    failed({ error, cause }) {
      const type = error === 'States.Timeout' ? 'TimedOut' : 'Failed';
      note(type, {
        ...resource,
        ...(error !== undefined && { error }),
        ...(cause !== undefined && { cause }),
      });
    },
  };
}
