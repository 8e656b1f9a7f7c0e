import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { HoldfastError } from '../../core/errors.ts';
import type { OperatorCalls } from '../../ports/operator-calls.ts';
import type { System } from '../../ports/system.ts';
import { retry, type RetryPolicy } from '../system/backoff.ts';
import { classifyLambdaError, mapLambdaError } from './map-error.ts';
import {
  decodeWorkAnswer,
  encodeWorkOrder,
  type WorkAnswer,
  type WorkOrder,
} from './work-order.ts';

export interface LambdaOperatorCallsOptions {
  /** Must wait for an answer as long as the functions may run. */
  readonly client: LambdaClient;
  /** Operator → name or ARN of its function. */
  readonly functions: ReadonlyMap<string, string>;
  readonly system: System;
  /** How long invocations without success are tried again. */
  readonly retryPolicy?: RetryPolicy;
}

/**
 * Asks operators by invoking their functions and waiting for the answer. An invocation whose reply is lost is made again: a
 * work order can be.
 */
export function createLambdaOperatorCalls(options: LambdaOperatorCallsOptions): OperatorCalls {
  const { client, functions, system, retryPolicy } = options;

  const ask = async (operator: string, work: WorkOrder): Promise<WorkAnswer> => {
    const functionName = functions.get(operator);
    if (functionName === undefined) {
      const known = [...functions.keys()].join(', ');
      throw new HoldfastError(
        'invalid',
        `operator ${operator} has no function here, expected one of: ${known || 'none is known'}; deploy the job with this operator, or name its function`,
      );
    }
    const command = new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'RequestResponse',
      Payload: new TextEncoder().encode(JSON.stringify(encodeWorkOrder(work))),
    });
    let reply;
    try {
      reply = await retry(
        system,
        () => client.send(command),
        (error) => classifyLambdaError(error) === 'passing',
        retryPolicy,
      );
    } catch (error) {
      throw mapLambdaError(error, `invoke function ${functionName}`);
    }
    const payload = readPayload(reply.Payload, functionName);
    if (reply.FunctionError !== undefined) throw crash(functionName, payload);
    return decodeWorkAnswer(payload, operator);
  };

  return {
    async describe(operator) {
      const answer = await ask(operator, { kind: 'describe' });
      if (answer.kind === 'contract') return answer.contract;
      throw wrongAnswer(operator, answer.kind);
    },

    async visit(operator, order) {
      const answer = await ask(operator, { kind: 'visit', order });
      if (answer.kind === 'report') return answer.report;
      throw wrongAnswer(operator, answer.kind);
    },
  };
}

function readPayload(bytes: Uint8Array | undefined, functionName: string): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    throw new HoldfastError(
      'internal',
      `function ${functionName} has answered ${JSON.stringify(text.slice(0, 100))}, which is no JSON`,
      { cause: error },
    );
  }
}

/** The invocation took its process with it: out of time or memory, or what no code of ours has caught. The next may not. */
function crash(functionName: string, payload: unknown): HoldfastError {
  const { errorType, errorMessage } = (payload ?? {}) as {
    readonly errorType?: string;
    readonly errorMessage?: string;
  };
  return new HoldfastError(
    'unavailable',
    `function ${functionName} has failed: ${errorType ?? 'unknown error'}: ${errorMessage ?? 'no message'}; it is tried again, and its log says more`,
  );
}

function wrongAnswer(operator: string, kind: WorkAnswer['kind']): HoldfastError {
  return new HoldfastError(
    'internal',
    `operator ${operator} has answered a work order with a ${kind}, which is not what was asked for`,
  );
}
