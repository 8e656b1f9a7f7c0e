import type { ServiceEndpoints } from '../../../localstack/embedded/lambda/environment-variables.ts';
import type { Call } from './policy.ts';
import type { RecordedRequest } from './recording-proxy.ts';

/*
 * What IAM makes of a request: which actions, on which resources. What is not known here becomes an action that no policy has.
 * Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
 */

/** Where everything lies; there is one stream, since a request that goes on with an iterator does not name it. */
export interface Place {
  readonly region: string;
  readonly accountId: string;
  readonly streamArn: string;
}

type Done = Omit<Call, 'role'>;
type Reader = (request: RecordedRequest, place: Place) => Done[];

const readers: Readonly<Record<keyof ServiceEndpoints, Reader>> = {
  dynamodb: readDynamodb,
  kinesis: ({ operation }, { streamArn }) => [
    { action: `kinesis:${operation}`, resource: streamArn },
  ],
  s3: readS3,
  lambda: readLambda,
  stepFunctions: ({ operation }) => [{ action: `states:${operation}`, resource: '*' }],
};

export function readCalls(
  service: keyof ServiceEndpoints,
  request: RecordedRequest,
  place: Place,
): Call[] {
  return readers[service](request, place).map((done) => ({ role: request.accessKey, ...done }));
}

interface OfTable {
  readonly TableName: string;
  readonly IndexName?: string;
}

interface DynamodbRequest extends Partial<OfTable> {
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, OfTable>>[];
  readonly Statements?: readonly { readonly Statement: string }[];
}

const partiqlActions: Readonly<Record<string, string>> = {
  'INSERT INTO': 'PartiQLInsert',
  UPDATE: 'PartiQLUpdate',
  'DELETE FROM': 'PartiQLDelete',
};

/** Statements and transactions are judged by each thing that they do. */
function readDynamodb({ operation, body }: RecordedRequest, place: Place): Done[] {
  const { TableName, IndexName, RequestItems, TransactItems, Statements } = JSON.parse(
    body,
  ) as DynamodbRequest;
  const on = (action: string, table: string, index?: string): Done => ({
    action: `dynamodb:${action}`,
    resource:
      `arn:aws:dynamodb:${place.region}:${place.accountId}:table/${table}` +
      (index === undefined ? '' : `/index/${index}`),
  });
  if (TransactItems !== undefined) {
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, { TableName: table }]) =>
        on(kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`, table),
      ),
    );
  }
  if (Statements !== undefined) {
    return Statements.map(({ Statement }) => {
      const [, verb = '', table = '?'] = /^([A-Z ]+) "([^"]+)"/.exec(Statement) ?? [];
      return on(partiqlActions[verb] ?? `unknown statement ${Statement}`, table);
    });
  }
  const tables = TableName === undefined ? Object.keys(RequestItems ?? {}) : [TableName];
  return tables.map((table) => on(operation, table, IndexName));
}

/** What a request may say besides the name of its object without being another operation. */
const plainQuery = new Set(['x-id', 'list-type', 'prefix', 'delimiter', 'continuation-token']);
const plainOperations: Readonly<Record<string, string>> = {
  GET: 'GetObject',
  HEAD: 'GetObject',
  PUT: 'PutObject',
  DELETE: 'DeleteObject',
};

function readS3({ method, url, body, status }: RecordedRequest): Done[] {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const [, bucket = '', ...rest] = decodeURIComponent(pathname).split('/');
  const arn = `arn:aws:s3:::${bucket}`;
  const key = rest.join('/');
  const list: Done = { action: 's3:ListBucket', resource: arn };
  const others = [...searchParams.keys()].filter((name) => !plainQuery.has(name));
  if (key === '' && method === 'POST' && others.join(' ') === 'delete') {
    // The names here have no character that XML has another text for.
    return [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => ({
      ...{ action: 's3:DeleteObject', resource: `${arn}/${name}` },
    }));
  }
  if (others.length > 0) return [{ action: `s3:unknown ${method} ${url}`, resource: arn }];
  if (key === '' && method === 'GET' && searchParams.has('list-type')) return [list];
  const action = key === '' ? undefined : plainOperations[method];
  if (action === undefined) return [{ action: `s3:unknown ${method} ${url}`, resource: arn }];
  const done: Done = { action: `s3:${action}`, resource: `${arn}/${key}` };
  // Who may not list is told 403 of what is not there.
  return action === 'GetObject' && status === 404 ? [done, list] : [done];
}

function readLambda({ method, url }: RecordedRequest, { region, accountId }: Place): Done[] {
  const { pathname } = new URL(url, 'http://lambda');
  const [, , kind, encoded = '', operation] = pathname.split('/');
  const arn = `arn:aws:lambda:${region}:${accountId}`;
  const name = decodeURIComponent(encoded).replace(/^arn:.*:function:/, '');
  if (kind === 'functions' && operation === 'invocations') {
    return [{ action: 'lambda:InvokeFunction', resource: `${arn}:function:${name}` }];
  }
  if (kind === 'event-source-mappings' && method === 'GET') {
    const action = 'lambda:GetEventSourceMapping';
    return [{ action, resource: `${arn}:event-source-mapping:${name}` }];
  }
  return [{ action: `lambda:unknown ${method} ${url}`, resource: '*' }];
}
