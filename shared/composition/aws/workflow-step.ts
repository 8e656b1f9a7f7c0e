import * as z from 'zod';
import type { Deadline } from '../../runtime/deadline.ts';
import { readingBackup } from '../../runtime/restore/backup-copies.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';

/*
 * A step of a workflow: what it takes and what it gives are small JSON, checked on both sides, with names of objects, ids and
 * numbers, whatever the size of the state. A step does as much as there is time for; `isDone` says whether it has to be called
 * again. It can die anywhere, and be run again or beside a twin.
 */

export interface StepContext {
  readonly ports: RestorePorts;
  readonly deadline: Deadline;
}

export interface Step {
  /** What the workflow has to send, by field. */
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  run(input: unknown, context: StepContext): Promise<unknown>;
}

/** @param fields of the input; what else is sent is refused */
export function defineStep<Fields extends z.core.$ZodLooseShape, Output extends z.ZodType>(
  fields: Fields,
  output: Output,
  run: (
    input: z.output<z.ZodObject<Fields>>,
    ports: RestorePorts,
    deadline: Deadline,
  ) => Promise<z.input<Output>>,
): Step {
  const input = z.strictObject(fields);
  return {
    input: input,
    output,
    run: async (sent, { ports, deadline }) => {
      const read = input.parse(sent);
      const used = isFromBackup(read) ? readingBackup(ports) : ports;
      return output.parse(await run(read, used, deadline));
    },
  };
}

/** Every step of an order that says so reads from the backup, too; so does a request. */
function isFromBackup(input: object): boolean {
  const { order, fromBackup } = input as {
    readonly order?: { readonly fromBackup?: unknown };
    readonly fromBackup?: unknown;
  };
  return order?.fromBackup === true || fromBackup === true;
}

export const text = z.string().min(1);
export const count = z.int().nonnegative();
export const nothing = z.strictObject({});

/** How an acquisition of the hold began; the id is empty before. */
export const holdChoice = z.strictObject({ id: z.string(), jobVersion: count });

/** What Step Functions says of a failure that was caught. */
export const failure = z.object({ Error: z.string().optional(), Cause: z.string().optional() });

/** What was thrown, in words. */
export function explainFailure({
  Error: name = '',
  Cause: cause = '',
}: z.output<typeof failure>): string {
  const message = readMessage(cause) ?? cause;
  if (message === '') return name === '' ? 'an unknown error' : name;
  return name.startsWith('Holdfast.') || name === '' ? message : `${name}: ${message}`;
}

/** Lambda gives the error of a function as JSON. */
function readMessage(cause: string): string | undefined {
  try {
    const { errorMessage } = JSON.parse(cause) as { errorMessage?: unknown };
    return typeof errorMessage === 'string' ? errorMessage : undefined;
  } catch {
    return undefined;
  }
}

/** Cuts `length` items into at most `most` ranges of about the same size; there is always one. */
export function cutRange(length: number, most: number): { from: number; to: number }[] {
  const parts = Math.max(1, Math.min(length, most));
  return Array.from({ length: parts }, (_, part) => ({
    from: Math.floor((part * length) / parts),
    to: Math.floor(((part + 1) * length) / parts),
  }));
}
