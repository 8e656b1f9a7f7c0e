import { formatPosition, parsePosition } from '../../core/position.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { PlacedRow, SinkRow, SinkSource } from '../../ports/sink.ts';
import type { TableAccess } from './conditional-write.ts';
import { statementCharactersMax } from './statement-text.ts';
import type { Item } from './table-keys.ts';

/** Attributes that every row carries beside its columns; their names begin with `_`, which no column's does (R10). */
export function provenanceOf(source: SinkSource, { id, emission }: SinkRow): Item {
  return {
    _id: { S: id },
    _job: { S: source.job },
    _generation: { N: String(source.generation) },
    _channel: { S: source.channel },
    _position: { S: formatPosition(emission.position) },
  };
}

/** What {@link readProvenance} has to be given of a row. */
export const provenanceAttributes = ['_id', '_generation', '_channel', '_position'] as const;

/** Reads what {@link provenanceOf} wrote; undefined for an item that no sink has written. */
export function readProvenance(
  item: Item,
): Pick<PlacedRow, 'id' | 'generation' | 'channel' | 'position'> | undefined {
  const [id, generation, channel, position] = provenanceAttributes.map((name) => item[name]);
  if (id?.S === undefined || channel?.S === undefined || position?.S === undefined)
    return undefined;
  return {
    id: id.S,
    generation: Number(generation?.N),
    channel: channel.S,
    position: parsePosition(position.S),
  };
}

/** Refuses names that could not stand in a statement. */
export function assertColumns(table: string, columns: readonly string[]): void {
  for (const column of columns) {
    if (/^[A-Za-z][A-Za-z0-9_]*$/.test(column) && column !== 'pk' && column !== 'sk') continue;
    throw new HoldfastError(
      'invalid',
      `sink table ${table}: column ${JSON.stringify(column)}, expected letters, digits and "_", beginning with a letter, and neither "pk" nor "sk"; rename it`,
    );
  }
}

/** Characters that a statement has for each column (` REMOVE "…"`), and for all the rest. */
const columnCharacters = 10;
const restCharacters = 1_024;

/** Access with single writes where a row has more columns than one statement can name. */
export function fitWriteMode<Access extends TableAccess>(
  access: Access,
  columns: readonly string[],
): Access {
  const characters = columns.reduce((sum, column) => sum + column.length + columnCharacters, 0);
  const isTooLong = characters + restCharacters > statementCharactersMax;
  return isTooLong ? { ...access, writeMode: 'conditional-put' } : access;
}
