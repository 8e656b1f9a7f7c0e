import * as z from 'zod';
import { defineOperator } from '../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../shared/operator/sink.ts';
import { listState, valueState } from '../../shared/operator/state.ts';

/*
 * An operator for which everything matters: its state is the order of its input, some events delete it, every event
 * appends a row that tells the whole history since the last deletion and replaces a view row.
 */

const entrySchema = z.object({
  account: z.string(),
  id: z.number(),
  kind: z.enum(['add', 'delete', 'throw']),
});

export type Entry = z.output<typeof entrySchema>;

/** Lets a test make process() depend on what it must not: on chance, and on the environment that it runs in. */
export interface Moods {
  throwsNow(entry: Entry): boolean;
  /** Capital letters that go into the history, or none. */
  readonly flavour: string;
}

/** A history without the flavours of the environments that made it. */
export function withoutFlavour(history: string): string {
  return history.replace(/[A-Z]/g, '');
}

export function ledger(moods: Moods) {
  return defineOperator({
    id: 'ledger',
    schema: entrySchema,
    key: (entry) => entry.account,
    state: { history: valueState<string>(), last: listState<number>({ keepLast: 2 }) },
    sinks: {
      journal: appendSink({ row: z.object({ history: z.string(), dice: z.number() }) }),
      balance: upsertSink({ row: z.object({ history: z.string() }) }),
    },
    process(entry, ctx) {
      if (entry.kind === 'throw' || moods.throwsNow(entry))
        throw new Error(`entry ${entry.id} is bad`);
      const history = `${ctx.state.history.get() ?? ''}/${entry.id}${moods.flavour}`;
      ctx.state.history.set(history);
      ctx.state.last.add(entry.id);
      ctx.emit({ sink: 'journal', row: { history, dice: ctx.random() } });
      if (entry.kind === 'delete') {
        ctx.state.history.clear();
        ctx.state.last.clear();
        ctx.emit({ sink: 'balance', remove: true });
        ctx.emit({ sink: 'journal', row: { history: `${history}.closed`, dice: ctx.random() } });
      } else {
        ctx.emit({ sink: 'balance', row: { history } });
      }
    },
  });
}

/** What a key must look like after some of its records: the same rules, written down a second time. */
export interface ExpectedKey {
  history: string | undefined;
  journal: string[];
  balance: string | undefined;
  deadLetters: number;
}

export function expectKey(entries: readonly (Entry | 'garbage')[]): ExpectedKey {
  const expected: ExpectedKey = {
    history: undefined,
    journal: [],
    balance: undefined,
    deadLetters: 0,
  };
  for (const entry of entries) {
    if (entry === 'garbage' || entry.kind === 'throw') {
      expected.deadLetters += 1;
      continue;
    }
    const history = `${expected.history ?? ''}/${entry.id}`;
    expected.journal.push(history);
    if (entry.kind === 'delete') {
      expected.journal.push(`${history}.closed`);
      expected.history = undefined;
      expected.balance = undefined;
    } else {
      expected.history = history;
      expected.balance = history;
    }
  }
  return expected;
}
