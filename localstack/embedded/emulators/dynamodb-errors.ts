import type { ApiError, Item } from './dynalite-internals.ts';

/** A refusal by the service, with the members that the protocol puts beside the message. */
export class DynamoDbRefusal extends Error implements ApiError {
  readonly statusCode = 400;
  readonly body: { readonly __type: string; readonly message: string };

  /** `name` is the exception's name without its namespace; `details` become members of the reply. */
  constructor(name: string, message: string, details: object = {}) {
    super(message);
    this.name = name;
    const space = name === 'ValidationException' ? validationSpace : serviceSpace;
    this.body = { __type: space + name, message, ...details };
  }
}

const serviceSpace = 'com.amazonaws.dynamodb.v20120810#';
const validationSpace = 'com.amazon.coral.validate#';

export function validationError(message: string): DynamoDbRefusal {
  return new DynamoDbRefusal('ValidationException', message);
}

/** The exception's name without its namespace. */
export function nameOfError(error: ApiError): string {
  return error.body.__type.slice(error.body.__type.indexOf('#') + 1);
}

export const conditionFailedMessage = 'The conditional request failed';

/** `item` is the losing item, if the request asked for it and it exists. */
export function conditionFailed(item: Item | undefined): DynamoDbRefusal {
  return new DynamoDbRefusal(
    'ConditionalCheckFailedException',
    conditionFailedMessage,
    item === undefined ? {} : { Item: item },
  );
}
