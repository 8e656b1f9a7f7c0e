import {
  BatchExecuteStatementCommand,
  type BatchStatementResponse,
} from '@aws-sdk/client-dynamodb';
import {
  describeItem,
  type ConditionalWrite,
  type ConditionalWriter,
  type TableAccess,
  type WriteResult,
} from './conditional-write.ts';
import { classifyCode, classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { sendInRounds } from './send-rounds.ts';
import { createStatementTexts } from './statement-text.ts';

/** How many statements one request may carry. */
const statementsMax = 25;

/**
 * Sends conditional writes as PartiQL statements, 25 to a request and up to 8 requests at once, and classifies each
 * statement on its own (P5): what was throttled is sent again, what lost its reply is reported or sent again.
 */
export function createStatementWriter(access: TableAccess): ConditionalWriter {
  const { client, table, system, retryPolicy } = access;
  const makeStatement = createStatementTexts(table);

  return {
    async write(writes, { doing, onUnknown }) {
      const results = new Array<WriteResult>(writes.length).fill('unknown');

      const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
        const statements = numbers.map((number) => makeStatement(writes[number]!));
        let responses: readonly BatchStatementResponse[];
        try {
          const reply = await client.send(
            new BatchExecuteStatementCommand({ Statements: statements }),
          );
          responses = reply.Responses ?? [];
        } catch (error) {
          switch (classifyError(error)) {
            case 'throttled':
              return numbers;
            case 'unknown-reply':
              return onUnknown === 'resend' ? numbers : [];
            default:
              throw mapDynamodbError(error, doing);
          }
        }
        return numbers.filter((number, at) => {
          const result = judge(responses[at], writes[number]!, doing);
          if (result === 'throttled') return true;
          results[number] = result;
          return result === 'unknown' && onUnknown === 'resend';
        });
      };

      await sendInRounds({
        system,
        policy: retryPolicy,
        count: writes.length,
        requestSize: statementsMax,
        send,
        giveUp: (unsettled) =>
          failureError('throttled', doing, `${unsettled} of ${writes.length} writes were refused`),
      });
      return results;
    },
  };
}

function judge(
  response: BatchStatementResponse | undefined,
  write: ConditionalWrite,
  doing: string,
): WriteResult | 'throttled' {
  if (response === undefined) return 'unknown';
  const error = response.Error;
  if (error === undefined) return 'done';
  const failure = classifyCode(error.Code);
  switch (failure) {
    case 'condition-failed':
    case 'duplicate':
      return 'refused';
    case 'throttled':
    case 'transaction-conflict':
      return 'throttled';
    case 'unknown-reply':
      return 'unknown';
    default:
      throw failureError(failure, `${doing}, item ${describeItem(write)}`, messageOf(error));
  }
}

function messageOf(error: {
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
}): string {
  return `${error.Code}: ${error.Message}`;
}
