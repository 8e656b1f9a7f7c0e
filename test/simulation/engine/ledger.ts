import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { listState, mapState, valueState } from '../../../shared/operator/state.ts';

/*
 * An operator for which everything matters: its state is the order of its input and of its timers, some events delete it,
 * every callback appends a row that tells the whole history since the last deletion and replaces a view row. Each event moves
 * money within its account's purse, in which there is never more than nothing in all.
 */

const entrySchema = z.object({
  account: z.string(),
  id: z.number(),
  kind: z.enum(['add', 'delete', 'throw']),
  /** Event time. */
  at: z.number(),
  /** A timer to register: `again` registers itself once more, `bad` throws. */
  timer: z
    .object({
      name: z.enum(['one', 'two', 'again', 'bad']),
      time: z.number(),
      domain: z.enum(['event', 'arrival']),
    })
    .optional(),
  /** An event timer to cancel. */
  cancel: z.string().optional(),
});

export type Entry = z.output<typeof entrySchema>;

/** What a record of the model's stream holds. */
export type Message = Entry | 'garbage' | { readonly kind: 'heartbeat'; readonly at: number };

/** A record, or a part of an aggregated one, under its partition key. */
export interface Part {
  readonly key: string;
  readonly message: Message;
}

/** How far the watermark follows behind the latest event. */
export const outOfOrdernessMs = 3;

/** When `again` registers itself once more, if at all: later, or in the past, which means as soon as may be. */
export function againTime(time: number): number | undefined {
  if (time % 2 !== 0) return undefined;
  return time % 3 === 0 ? time - 2 : time + 5;
}

/** Lets a test make process() depend on what it must not: on chance, and on the environment that it runs in. */
export interface Moods {
  throwsNow(entry: Entry): boolean;
  /** Capital letters that go into the history, or none. */
  readonly flavour: string;
  /** Schema version of the history. @default 1 */
  readonly version?: number;
  /** Entries of which this code tells nobody: their state changes, and no row comes of it. @default of all it tells */
  readonly isQuiet?: (entry: Entry) => boolean;
}

/** What an event moves from one pocket to another. */
function transfer(id: number): readonly (readonly [pocket: string, amount: number])[] {
  return [
    [`pocket ${id % 3}`, -id],
    [`pocket ${(id + 1) % 3}`, id],
  ];
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
    eventTime: { time: (entry) => entry.at, outOfOrdernessMs },
    state: {
      history: valueState<string>({
        version: moods.version ?? 1,
        migrate: (stored) => stored as string,
      }),
      last: listState<number>({ keepLast: 2 }),
      purse: mapState<number>(),
    },
    sinks: {
      journal: appendSink({ row: z.object({ history: z.string(), dice: z.number() }) }),
      balance: upsertSink({ row: z.object({ history: z.string() }) }),
    },
    process(entry, ctx) {
      if (entry.kind === 'throw' || moods.throwsNow(entry)) {
        throw new Error(`entry ${entry.id} is bad`);
      }
      const before = ctx.state.history.get() ?? '';
      const history = `${before}/${entry.id}~${ctx.watermark ?? 'none'}${moods.flavour}`;
      ctx.state.history.set(history);
      ctx.state.last.add(entry.id);
      for (const [pocket, amount] of transfer(entry.id)) {
        ctx.state.purse.set(pocket, (ctx.state.purse.get(pocket) ?? 0) + amount);
      }
      const isQuiet = moods.isQuiet?.(entry) === true;
      if (!isQuiet) ctx.emit({ sink: 'journal', row: { history, dice: ctx.random() } });
      if (entry.timer !== undefined) ctx.timers.register(entry.timer);
      if (entry.cancel !== undefined) ctx.timers.cancel(entry.cancel);
      if (entry.kind === 'delete') {
        ctx.state.history.clear();
        ctx.state.last.clear();
        ctx.state.purse.clear();
        ctx.emit({ sink: 'balance', remove: true });
        ctx.emit({ sink: 'journal', row: { history: `${history}.closed`, dice: ctx.random() } });
      } else if (!isQuiet) {
        ctx.emit({ sink: 'balance', row: { history } });
      }
    },
    onTimer(timer, ctx) {
      if (timer.name === 'bad') throw new Error('this timer is bad');
      const fired = `!${timer.name}@${timer.time}~${ctx.watermark ?? 'none'}~${ctx.now() % 1000}`;
      const history = `${ctx.state.history.get() ?? ''}${fired}${moods.flavour}`;
      ctx.state.history.set(history);
      ctx.emit({ sink: 'journal', row: { history, dice: ctx.random() } });
      ctx.emit({ sink: 'balance', row: { history } });
      const time = timer.name === 'again' ? againTime(timer.time) : undefined;
      if (time !== undefined) ctx.timers.register({ name: 'again', time, domain: timer.domain });
    },
  });
}
