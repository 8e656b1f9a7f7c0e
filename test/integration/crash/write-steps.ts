import type { EmulatorRequest, FaultHook } from '../../../localstack/embedded/emulators/faults.ts';

/** What one write request is for. */
export type StepKind =
  | 'birth'
  | 'suspicion'
  | 'spilled emissions'
  | 'states'
  | 'segment'
  | 'append rows'
  | 'view rows replaced'
  | 'view rows created'
  | 'dead letter data'
  | 'dead letters'
  | 'progress'
  | 'tombstones';

export const stepKinds: readonly StepKind[] = [
  'birth',
  'suspicion',
  'spilled emissions',
  'states',
  'segment',
  'append rows',
  'view rows replaced',
  'view rows created',
  'dead letter data',
  'dead letters',
  'progress',
  'tombstones',
];

/** One write request of a run. */
export interface WriteStep {
  readonly kind: StepKind;
  /** Counts the requests of this kind, from 1. */
  readonly number: number;
  /** Counts the units, from 1: progress ends one. */
  readonly unit: number;
  /** How many statements the request carries; 1 for one that is all or nothing. */
  readonly parts: number;
}

/** Written in the same step of P1, in no order, but for those that come after another. */
const outputOrder: Partial<Record<StepKind, StepKind | undefined>> = {
  segment: undefined,
  'append rows': undefined,
  'view rows replaced': undefined,
  'view rows created': 'view rows replaced',
  'dead letter data': undefined,
  'dead letters': 'dead letter data',
};

/** True where `step` may be under way while `other` is: both are outputs of one unit, and neither waits for the other. */
export function isBeside(step: WriteStep, other: WriteStep): boolean {
  return (
    step.unit === other.unit &&
    step.kind !== other.kind &&
    Object.hasOwn(outputOrder, step.kind) &&
    Object.hasOwn(outputOrder, other.kind) &&
    outputOrder[step.kind] !== other.kind &&
    outputOrder[other.kind] !== step.kind
  );
}

/** Numbers the write requests of one run as they arrive; undefined for a request that writes nothing of the job. */
export function createStepCounter(): (request: EmulatorRequest) => WriteStep | undefined {
  const numbers = new Map<StepKind, number>();
  let unit = 1;
  return (request) => {
    const kind = classifyRequest(request);
    if (kind === undefined) return undefined;
    const number = (numbers.get(kind) ?? 0) + 1;
    numbers.set(kind, number);
    const step = { kind, number, unit, parts: statementsOf(request).length || 1 };
    if (kind === 'progress') unit += 1;
    return step;
  };
}

/** A hook that only takes notes. */
export function recordSteps(steps: WriteStep[]): FaultHook {
  const count = createStepCounter();
  return (request) => {
    const step = count(request);
    if (step !== undefined) steps.push(step);
    return undefined;
  };
}

const reads = new Set([
  ...['GetItem', 'BatchGetItem', 'Query', 'Scan', 'DescribeTable'],
  ...['GetObject', 'HeadObject', 'ListObjectsV2'],
]);

function classifyRequest(request: EmulatorRequest): StepKind | undefined {
  const { operation, table = '' } = request;
  if (reads.has(operation)) return undefined;
  const kind =
    operation === 'PutObject'
      ? classifyObject(request.key ?? '')
      : classifyWrite(operation, table.slice(table.indexOf('.') + 1), request);
  // What is added later must get a name here, or no test would kill there.
  if (kind === undefined) {
    throw new Error(`${operation} on ${table} ${request.key ?? ''} is a step without a name`);
  }
  return kind === 'probe' ? undefined : kind;
}

function classifyObject(name: string): StepKind | undefined {
  if (name.includes('/segments/')) return 'segment';
  if (name.includes('/emissions/')) return 'spilled emissions';
  return name.includes('/dead-letters/') ? 'dead letter data' : undefined;
}

function classifyWrite(
  operation: string,
  role: string,
  request: EmulatorRequest,
): StepKind | 'probe' | undefined {
  const statements = statementsOf(request);
  const [first = ''] = statements.map(({ Statement }) => Statement);
  switch (`${role} ${operation}`) {
    case 'control TransactWriteItems':
      return 'birth';
    case 'control PutItem': {
      const { Item } = request.body as { Item: { sk: { S: string } } };
      const kinds: Record<string, StepKind> = { progress: 'progress', suspicion: 'suspicion' };
      return kinds[Item.sk.S];
    }
    case 'state BatchExecuteStatement':
      // Finds out what the endpoint can do; writes nothing of the job.
      if (JSON.stringify(statements).includes('!probe')) return 'probe';
      return / SET "ttl"=/.test(first) ? 'tombstones' : 'states';
    case 'journal BatchExecuteStatement':
      return 'append rows';
    case 'balance BatchExecuteStatement':
      return first.startsWith('INSERT') ? 'view rows created' : 'view rows replaced';
    case 'dead-letters BatchExecuteStatement':
      return 'dead letters';
    default:
      return undefined;
  }
}

function statementsOf({ body }: EmulatorRequest): readonly { Statement: string }[] {
  const { Statements = [] } = (body ?? {}) as { Statements?: { Statement: string }[] };
  return Statements;
}
