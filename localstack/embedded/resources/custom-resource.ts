import { randomUUID } from 'node:crypto';

import { describeResult } from '../lambda/invocation-result.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { ResourceReference } from '../template/intrinsics.ts';
import {
  isTemplateObject,
  type TemplateObject,
  type TemplateValue,
} from '../template/template-value.ts';
import { startAnswerServer, type CustomResourceAnswer } from './answer-server.ts';
import { findFunction } from './function-resource.ts';
import type { ResourceKind, ResourceRequest } from './resource-kind.ts';

/** Lambda runs an asynchronous invocation that fails twice more. */
const INVOCATIONS_MAX = 3;
/** CloudFormation waits an hour; nobody does that at a desk. ServiceTimeout still shortens it. */
const ANSWER_TIMEOUT_SECONDS_MAX = 60;

/** `AWS::CloudFormation::CustomResource` and every `Custom::…`: a function of the same template creates it. */
export const customResource: ResourceKind = {
  properties: 'any',
  async create(request, { place, functions }) {
    const target = findFunction(functions, request.properties.text('ServiceToken'));
    const timeoutSeconds = request.properties.integerOr(
      'ServiceTimeout',
      { min: 1, max: 3_600 },
      ANSWER_TIMEOUT_SECONDS_MAX,
    );
    const server = await startAnswerServer();
    try {
      const event = createEvent(request, { responseUrl: server.url, stackId: place.stackId });
      const answer = await ask(target, event, server.answer, {
        timeoutSeconds: Math.min(timeoutSeconds, ANSWER_TIMEOUT_SECONDS_MAX),
      });
      return referenceOf(answer);
    } catch (error) {
      throw new Error(
        `${request.type} ${request.logicalId} was not created: ${(error as Error).message}`,
        { cause: error },
      );
    } finally {
      await server.close();
    }
  },
};

function createEvent(
  { logicalId, type, properties }: ResourceRequest,
  stack: { responseUrl: string; stackId: string },
): TemplateObject {
  return {
    RequestType: 'Create',
    ServiceToken: properties.text('ServiceToken'),
    ResponseURL: stack.responseUrl,
    StackId: stack.stackId,
    RequestId: randomUUID(),
    LogicalResourceId: logicalId,
    ResourceType: type,
    ResourceProperties: asTexts(properties.values),
  };
}

/** CloudFormation turns every number and boolean into text on its way to the function. */
function asTexts(value: TemplateValue): TemplateValue {
  if (Array.isArray(value)) return value.map(asTexts);
  if (!isTemplateObject(value)) return String(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asTexts(item)]));
}

async function ask(
  target: LambdaFunction,
  event: TemplateObject,
  answer: Promise<CustomResourceAnswer>,
  limits: { timeoutSeconds: number },
): Promise<CustomResourceAnswer> {
  const failed = Promise.withResolvers<never>();
  const invoke = async (): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const result = await target.invoke(JSON.stringify(event));
      // A function that ends well may have handed the request on: its answer may still come.
      if (result.kind === 'success') return;
      if (attempt === INVOCATIONS_MAX || result.kind === 'rejected') {
        throw new Error(`${target.name} failed and gave no answer: ${describeResult(result)}`);
      }
    }
  };
  invoke().catch((error: unknown) => failed.reject(error as Error));
  const timer = setTimeout(() => {
    failed.reject(
      new Error(
        `${target.name} gave no answer within ${limits.timeoutSeconds} s; it must PUT one to event.ResponseURL`,
      ),
    );
  }, limits.timeoutSeconds * 1_000);
  try {
    return await Promise.race([answer, failed.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function referenceOf(answer: CustomResourceAnswer): ResourceReference {
  if (answer.Status !== 'SUCCESS') {
    throw new Error(`its function answered ${String(answer.Status)}: ${String(answer.Reason)}`);
  }
  const { PhysicalResourceId: physicalId, Data: data } = answer;
  if (typeof physicalId !== 'string' || physicalId === '') {
    throw new Error(
      `its answer has the PhysicalResourceId ${JSON.stringify(physicalId)}, expected a text that is not empty`,
    );
  }
  const attributes = (data ?? {}) as TemplateValue;
  return { physicalId, attributes: isTemplateObject(attributes) ? attributes : {} };
}
