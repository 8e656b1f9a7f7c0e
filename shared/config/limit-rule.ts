import * as z from 'zod';
import { describeLimit, isWithin, type Limit } from './limits.ts';

/** A field that is a whole number within a limit. `code` names the problem where it is not. */
export function within(code: string, limit: Limit): z.ZodCustom<number, number> {
  return z.custom<number>(
    (value) => isWithin(limit, value),
    rule(code, describeLimit(limit), 'choose a value in the range'),
  );
}

/** What a field of the schema says where its value breaks its rule. */
export function rule(
  code: string,
  expected: string,
  remedy: string,
): { readonly params: Readonly<Record<'code' | 'expected' | 'remedy', string>> } {
  return { params: { code, expected, remedy } };
}
