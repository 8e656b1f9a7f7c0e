import { randomUUID } from 'node:crypto';

import type { Emulator } from '../emulators/emulator.ts';
import { startLoopbackServer, type LoopbackReply } from '../loopback-server.ts';
import { ApiError } from './api-error.ts';
import { isJsonObject, parseJson, type JsonObject } from './json-value.ts';
import type { StateMachines } from './state-machines.ts';
import { createStepFunctionsApi } from './step-functions-api.ts';

/** The service's limit for one request. */
const REQUEST_BYTES_MAX = 1_048_576;
const TARGET_PREFIX = 'AWSStepFunctions.';

/** Speaks AWS JSON 1.0. State machines come from the template; the operations that create or change them are not there. */
export function startStepFunctions(machines: StateMachines): Promise<Emulator> {
  const api = createStepFunctionsApi(machines);
  return startLoopbackServer(REQUEST_BYTES_MAX, ({ headers, body }) => {
    const target = String(headers['x-amz-target'] ?? '');
    const name = target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : '';
    try {
      const operation = Object.hasOwn(api, name) ? api[name] : undefined;
      if (operation === undefined) {
        const known = Object.keys(api).join(', ');
        throw new ApiError(
          'UnknownOperationException',
          `operation "${target}" is not supported locally (known here: ${known})`,
        );
      }
      const request = parseJson(body.toString('utf8'));
      if (!isJsonObject(request)) {
        throw new ApiError('SerializationException', 'the body is no JSON object');
      }
      return reply(200, operation(request));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return reply(400, { __type: error.code, message: error.message });
    }
  });
}

function reply(status: number, body: JsonObject): LoopbackReply {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() },
    body: JSON.stringify(body),
  };
}
