import * as z from 'zod';
import { describeThrown, HoldfastError, type ErrorKind } from '../../core/errors.ts';
import type { OperatorContract } from '../../core/manifest.ts';
import { formatPosition, parsePosition } from '../../core/position.ts';
import type { VisitOrder, VisitReport } from '../../ports/operator-calls.ts';

/*
 * What an operator's function is asked besides batches of records, and what it answers, as the JSON of its invocation. An order
 * is told from a batch by the field `holdfast`. Positions travel as text: their numbers exceed what JSON's can hold.
 *
 *   {"holdfast":"describe"}                                        → {"holdfast":"contract","contract":{…}}
 *   {"holdfast":"visit","shardId":"…","goal":{"kind":"tip"},…}     → {"holdfast":"report","report":{…}}
 *                                                                  or {"holdfast":"failure","kind":"…","message":"…"}
 */

export type WorkOrder =
  { readonly kind: 'describe' } | { readonly kind: 'visit'; readonly order: VisitOrder };

export type WorkAnswer =
  | { readonly kind: 'contract'; readonly contract: OperatorContract }
  | { readonly kind: 'report'; readonly report: VisitReport };

/** As JSON has it. */
export interface EncodedWork {
  readonly holdfast: string;
  readonly [field: string]: unknown;
}

const position = z.string().transform((text, context) => {
  try {
    return parsePosition(text);
  } catch (thrown) {
    context.addIssue(describeThrown(thrown));
    return z.NEVER;
  }
});

const orderSchema = z.discriminatedUnion('holdfast', [
  z.strictObject({ holdfast: z.literal('describe') }),
  z.strictObject({
    holdfast: z.literal('visit'),
    shardId: z.string().min(1),
    goal: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('tip') }),
      z.strictObject({ kind: z.literal('end') }),
      z.strictObject({ kind: z.literal('position'), position }),
    ]),
    hold: z.string().min(1).optional(),
    acceptsGaps: z.boolean().optional(),
  }),
]);

const contractSchema = z.strictObject({
  id: z.string(),
  states: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.enum(['value', 'list', 'map', 'aggregating']),
      version: z.int(),
    }),
  ),
  sinks: z.array(z.strictObject({ name: z.string(), kind: z.enum(['append', 'upsert']) })),
  timeRules: z.string(),
});

const reportSchema = z.strictObject({
  isThere: z.boolean(),
  reason: z.string(),
  isStuck: z.boolean(),
  position: position.optional(),
  isFinished: z.boolean(),
  records: z.int().nonnegative(),
});

const errorKinds = [
  'unavailable',
  'conflict',
  'fenced',
  'invalid',
  'corrupt',
  'internal',
] as const satisfies readonly ErrorKind[];

const answerSchema = z.discriminatedUnion('holdfast', [
  z.strictObject({ holdfast: z.literal('contract'), contract: contractSchema }),
  z.strictObject({ holdfast: z.literal('report'), report: reportSchema }),
  z.strictObject({
    holdfast: z.literal('failure'),
    kind: z.enum(errorKinds),
    message: z.string(),
  }),
]);

/** True for an event that is no batch of records. */
export function isWorkOrder(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'holdfast' in event;
}

export function encodeWorkOrder(work: WorkOrder): EncodedWork {
  if (work.kind === 'describe') return { holdfast: 'describe' };
  const { shardId, goal, hold, acceptsGaps } = work.order;
  return {
    holdfast: 'visit',
    shardId,
    goal:
      goal.kind === 'position' ? { ...goal, position: formatPosition(goal.position) } : { ...goal },
    ...(hold === undefined ? {} : { hold }),
    ...(acceptsGaps === undefined ? {} : { acceptsGaps }),
  };
}

/** @throws HoldfastError `invalid` for anything that is no order of this version */
export function decodeWorkOrder(event: unknown): WorkOrder {
  const parsed = orderSchema.safeParse(event);
  if (!parsed.success) {
    throw new HoldfastError(
      'invalid',
      `an operator cannot read its work order: ${explain(parsed.error)}; deploy the operators and what calls them at the same version`,
    );
  }
  if (parsed.data.holdfast === 'describe') return { kind: 'describe' };
  const { shardId, goal, hold, acceptsGaps } = parsed.data;
  const order: VisitOrder = {
    shardId,
    goal,
    ...(hold === undefined ? {} : { hold }),
    ...(acceptsGaps === undefined ? {} : { acceptsGaps }),
  };
  return { kind: 'visit', order };
}

export function encodeWorkAnswer(answer: WorkAnswer): EncodedWork {
  if (answer.kind === 'contract') return { holdfast: 'contract', contract: answer.contract };
  const { position: at, ...report } = answer.report;
  return {
    holdfast: 'report',
    report: at === undefined ? report : { ...report, position: formatPosition(at) },
  };
}

/** What was thrown, as an answer, so that its kind reaches the caller. */
export function encodeWorkFailure(error: HoldfastError): EncodedWork {
  return { holdfast: 'failure', kind: error.kind, message: error.message };
}

/**
 * @param operator whose answer it is, for messages
 * @throws HoldfastError what the operator threw; `internal` for anything that is no answer of this version
 */
export function decodeWorkAnswer(answer: unknown, operator: string): WorkAnswer {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) {
    throw new HoldfastError(
      'internal',
      `cannot read what operator ${operator} has answered to a work order: ${explain(parsed.error)}; deploy the operators and what calls them at the same version`,
    );
  }
  const { data } = parsed;
  switch (data.holdfast) {
    case 'failure':
      throw new HoldfastError(data.kind, `operator ${operator}: ${data.message}`);
    case 'contract':
      return { kind: 'contract', contract: data.contract };
    case 'report':
      return { kind: 'report', report: { ...data.report, position: data.report.position } };
  }
}

function explain(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => `${path.map(String).join('.') || 'all of it'}: ${message}`)
    .join('; ');
}
