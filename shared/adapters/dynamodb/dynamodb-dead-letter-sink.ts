import { emissionOrder } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Position } from '../../core/position.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { Sink, SinkRow, SinkSource, SinkTable } from '../../ports/sink.ts';
import { createRowCreator } from './append-rows.ts';
import type { TableAccess } from './conditional-write.ts';
import { createConditionalWriter } from './conditional-writer.ts';
import { provenanceOf } from './sink-row.ts';
import { createDynamodbSinkTable } from './sink-table.ts';
import { deadLetterPartition, deadLetterSort, tableKey, type Item } from './table-keys.ts';

export interface DeadLetterSinkOptions extends TableAccess {
  /** Takes the data of records that are too large for a row. */
  readonly objects: ObjectStore;
}

/** What the runtime emits for a poison record. */
interface DeadLetter {
  readonly reason: string;
  readonly message: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivalMs: number;
}

/** Data above this size goes to an object of its own. */
export const inlineDataBytesMax = 64 * 1024;

/** A message is for people; one that would not fit into the row is cut. */
const messageCharactersMax = 4_096;

const objectsInFlightMax = 8;

/**
 * Poison records and timers: `pk` is the operator's channel, `sk` the place of the record, or of the firing, in it. The
 * row has `reason`, `message`, `partitionKey`, `arrivalMs` and the record's `data`, or `dataObject`, the name of the object
 * that holds it.
 */
export function createDynamodbDeadLetterSink(options: DeadLetterSinkOptions): Sink & SinkTable {
  const { table, objects } = options;
  const createRows = createRowCreator(options, createConditionalWriter(options), {
    removable: ['data', 'dataObject'],
    doing: `write dead letters to table ${table}`,
  });

  return {
    ...createDynamodbSinkTable(options, 'append', 'partitionKey'),

    async write(source, rows) {
      const letters = rows.map((row) => encodeLetter(source, row));
      // The data first: a row never names an object that is not there.
      await createObjects(objects, letters);
      return createRows(
        source.generation,
        letters.map(({ item }) => item),
      );
    },
  };
}

/** Where the data of a large record is. */
export function deadLetterObjectName(job: string, operator: string, id: string): string {
  return `jobs/${job}/dead-letters/${operator}/${id}`;
}

interface EncodedLetter {
  readonly item: Item;
  readonly object: { readonly name: string; readonly bytes: Uint8Array } | undefined;
}

function encodeLetter(source: SinkSource, row: SinkRow): EncodedLetter {
  const { position } = row.emission;
  const letter = readLetter(row.emission.value);
  const { operator, channel } = source;
  const id = position.step === undefined ? recordId(source, position) : row.id;
  const sort = deadLetterSort(emissionOrder(row.emission), position.step);
  const isLarge = letter.data.length > inlineDataBytesMax;
  const name = deadLetterObjectName(source.job, operator, id);
  return {
    item: {
      ...tableKey(deadLetterPartition(operator, channel), sort),
      ...provenanceOf(source, { ...row, id }),
      reason: { S: letter.reason },
      message: { S: letter.message.slice(0, messageCharactersMax).toWellFormed() },
      partitionKey: { S: letter.partitionKey },
      arrivalMs: { N: String(letter.arrivalMs) },
      ...(isLarge ? { dataObject: { S: name } } : { data: { B: letter.data } }),
    },
    object: isLarge ? { name, bytes: letter.data } : undefined,
  };
}

/** A record has one dead letter, whichever key it was for (P15). */
function recordId({ operator, origin }: SinkSource, { sequence, sub }: Position): string {
  return `${operator}#${origin}#${sequence}#${sub}`;
}

async function createObjects(
  objects: ObjectStore,
  letters: readonly EncodedLetter[],
): Promise<void> {
  const large = letters.flatMap(({ object }) => object ?? []);
  for (let at = 0; at < large.length; at += objectsInFlightMax) {
    const some = large.slice(at, at + objectsInFlightMax);
    // `exists` is an earlier attempt with the same record under the same name.
    await Promise.all(some.map(({ name, bytes }) => objects.create(name, bytes)));
  }
}

function readLetter(value: unknown): DeadLetter {
  const letter = value as Partial<Record<keyof DeadLetter, unknown>> | null;
  if (
    typeof letter?.reason === 'string' &&
    typeof letter.message === 'string' &&
    typeof letter.partitionKey === 'string' &&
    letter.data instanceof Uint8Array &&
    typeof letter.arrivalMs === 'number'
  ) {
    return letter as DeadLetter;
  }
  throw new HoldfastError(
    'internal',
    `a dead letter has ${Object.keys(letter ?? {}).join(', ')}; expected reason, message, partitionKey, data and arrivalMs`,
  );
}
