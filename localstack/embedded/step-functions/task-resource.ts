import type { FieldReader } from './field-reader.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import { runtimeError, showData } from './state-error.ts';

/** Whether a function's name, partial ARN or ARN belongs to a function of the stack. */
export type FunctionCheck = (functionName: string) => boolean;

export const INVOKE_RESOURCE = 'arn:aws:states:::lambda:invoke';

const invokeResource = /^arn:[^:]+:states:::lambda:invoke$/;
const functionResource = /^arn:[^:]+:lambda:[^:]+:\d{12}:function:[^:]+(:\$LATEST)?$/;
const invokeParameters = ['FunctionName', 'Payload', 'InvocationType'];

/** A function's ARN or INVOKE_RESOURCE. Everything that can be known about the call beforehand is checked. */
export function readTaskResource(reader: FieldReader, hasFunction: FunctionCheck): string {
  const resource = reader.text('Resource');
  if (functionResource.test(resource)) {
    if (!hasFunction(resource)) {
      reader.refuse('Resource', 'the ARN of a function of this stack');
    }
    return resource;
  }
  if (!invokeResource.test(resource)) {
    reader.refuse('Resource', `${INVOKE_RESOURCE} or the ARN of a function`);
    return INVOKE_RESOURCE;
  }
  const parameters = reader.get('Parameters');
  if (!isJsonObject(parameters)) {
    reader.refuse('Parameters', 'an object with FunctionName');
    return INVOKE_RESOURCE;
  }
  const unknown = unknownParameter(
    Object.keys(parameters).map((name) => (name.endsWith('.$') ? name.slice(0, -2) : name)),
  );
  if (unknown !== undefined) reader.report(unknown);
  const { FunctionName: name, InvocationType: type = 'RequestResponse' } = parameters;
  if (name === undefined && parameters['FunctionName.$'] === undefined) {
    reader.report('Parameters have no FunctionName; add it');
  } else if (name !== undefined && (typeof name !== 'string' || !hasFunction(name))) {
    reader.report(`Parameters.FunctionName ${JSON.stringify(name)} is no function of this stack`);
  }
  if (type !== 'RequestResponse') {
    reader.report(
      `Parameters.InvocationType is ${JSON.stringify(type)}, only "RequestResponse" is supported locally`,
    );
  }
  return INVOKE_RESOURCE;
}

/** What to invoke, out of the evaluated Parameters of `lambda:invoke`. */
export function readInvocation(parameters: JsonValue): {
  functionName: string;
  payload: JsonValue;
} {
  const values: JsonObject = isJsonObject(parameters) ? parameters : {};
  const { FunctionName: functionName, Payload: payload = {}, InvocationType: type } = values;
  if (typeof functionName !== 'string') {
    throw runtimeError(`FunctionName is ${showData(functionName ?? null)}, expected a text`);
  }
  if (type !== undefined && type !== 'RequestResponse') {
    throw runtimeError(`InvocationType is ${showData(type)}, only RequestResponse works locally`);
  }
  return { functionName, payload };
}

function unknownParameter(names: readonly string[]): string | undefined {
  const unknown = names.filter((name) => !invokeParameters.includes(name));
  if (unknown.length === 0) return undefined;
  return `Parameters ${unknown.join(', ')} of lambda:invoke are not supported locally (known here: ${invokeParameters.join(', ')})`;
}
