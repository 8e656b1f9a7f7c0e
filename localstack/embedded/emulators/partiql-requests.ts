import { type AttributeValue, isApiError, validations } from './dynalite-internals.ts';
import { validationError } from './dynamodb-errors.ts';
import type { DynamoDbStore } from './dynamodb-store.ts';
import { readWantsOldItem } from './item-write.ts';
import { type BoundStatement, bindStatement } from './partiql-binding.ts';
import { parseStatement } from './partiql-parser.ts';
import type { Failure } from './partiql-results.ts';
import type { Statement } from './partiql-syntax.ts';

const statementCharsMax = 8192;
const rememberedMax = 1_000;

export interface StatementBody {
  readonly Statement?: string;
  readonly Parameters?: readonly AttributeValue[];
  readonly ConsistentRead?: boolean;
  readonly ReturnValuesOnConditionCheckFailure?: string;
  readonly ReturnConsumedCapacity?: string;
}

export interface StatementReader {
  /** The statement ready to run, or why it cannot. */
  read(body: StatementBody): BoundStatement | Failure;
  /** The table that a statement names, if it can be read. */
  findTable(body: StatementBody): string | undefined;
}

export function createStatementReader(store: DynamoDbStore): StatementReader {
  // Clients send the same text for every item, so each text is parsed once.
  const remembered = new Map<string, Statement>();
  const parse = (text: string): Statement => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    if (text.length < 1 || text.length > statementCharsMax) {
      throw validationError(
        `Value at 'statement' failed to satisfy constraint: Member must have length between 1 and ` +
          `${statementCharsMax}, got ${text.length}`,
      );
    }
    const statement = parseStatement(text);
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(text, statement);
    return statement;
  };
  return {
    read: (body) => {
      let table: string | undefined;
      try {
        const statement = parse(body.Statement ?? '');
        table = statement.table;
        const wantsOldItem = readWantsOldItem(body);
        return bindStatement(statement, readParameters(body), store.table(table), wantsOldItem);
      } catch (error) {
        if (!isApiError(error)) throw error;
        return { kind: 'failed', table, units: 0, error };
      }
    },
    findTable: (body) => {
      try {
        return parse(body.Statement ?? '').table;
      } catch (error) {
        if (isApiError(error)) return undefined;
        throw error;
      }
    },
  };
}

const parametersShape = { Parameters: { type: 'List', children: 'AttrStruct<ValueStruct>' } };

/** A copy, for binding brings numbers to their canonical form. */
function readParameters({ Parameters }: StatementBody): readonly AttributeValue[] {
  if (Parameters === undefined) return [];
  const checked = validations.checkTypes({ Parameters }, parametersShape);
  return (checked as { Parameters: AttributeValue[] }).Parameters;
}
