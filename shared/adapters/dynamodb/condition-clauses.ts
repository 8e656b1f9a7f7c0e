/*
 * Every condition that a write to a table is made under, by name.
 *
 * A clause is spelled twice: for PartiQL, and for the expressions of single writes and transactions. Both take the same
 * values in the same order, `?` one after the other and `:c0`, `:c1`, … .
 */

export interface ConditionClause {
  readonly partiql: string;
  readonly expression: string;
  /** Attribute names behind the `#` names of `expression`. */
  readonly names: Readonly<Record<string, string>>;
}

/** P5: the item is still the version that was seen; an absent one never is. Values: version. */
export const versionIsSeen: ConditionClause = {
  partiql: '"v"=?',
  expression: '#v = :c0',
  names: { '#v': 'v' },
};

/** P14: the item is still a tombstone, of this version. Values: version, true. */
export const isTombstoneOfVersion: ConditionClause = {
  partiql: '"v"=? AND "d"=?',
  expression: '#v = :c0 AND #d = :c1',
  names: { '#v': 'v', '#d': 'd' },
};

/** P13: the row is there and holds an older output. Values: generation, generation, order. */
export const rowIsOlder: ConditionClause = {
  partiql: '("_generation"<? OR ("_generation"=? AND "_order"<?))',
  expression: '(#generation < :c0 OR (#generation = :c1 AND #order < :c2))',
  names: { '#generation': '_generation', '#order': '_order' },
};

/** R10: the row there is of a lower generation. Values: generation. */
export const generationIsLower: ConditionClause = {
  partiql: '"_generation"<?',
  expression: '#generation < :c0',
  names: { '#generation': '_generation' },
};

/** R10: the row is still the one that was read. Values: generation, id. */
export const rowIsOf = {
  expression: '#generation = :c0 AND #id = :c1',
  names: { '#generation': '_generation', '#id': '_id' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** A create never replaces. No values. In PartiQL, INSERT says the same. */
export const itemIsAbsent = {
  expression: 'attribute_not_exists(#pk)',
  names: { '#pk': 'pk' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** A change never creates. No values. In PartiQL, UPDATE says the same. */
export const itemIsPresent = {
  expression: 'attribute_exists(#pk)',
  names: { '#pk': 'pk' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** The item has this version. Values: version. */
export const versionIs = {
  expression: '#version = :c0',
  names: { '#version': 'version' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** Law 5: progress is what its successor was made from, and is not at the start. Values: version, generation, position. */
export const progressIsFrom = {
  expression: '#version = :c0 AND #generation = :c1 AND #position = :c2',
  names: { '#version': 'version', '#generation': 'generation', '#position': 'position' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** Law 5: progress is what its successor was made from, before its first unit. Values: version, generation. */
export const progressIsAtStart = {
  expression: '#version = :c0 AND #generation = :c1 AND attribute_not_exists(#position)',
  names: { '#version': 'version', '#generation': 'generation', '#position': 'position' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** P9: the job runs in this generation, and nothing holds it. Values: generation, 'running'. */
export const jobIsOpen = {
  expression: '#generation = :c0 AND #status = :c1 AND attribute_not_exists(#hold)',
  names: { '#generation': 'generation', '#status': 'status', '#hold': 'hold' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** P9: the job runs in this generation, and nothing holds it but this hold. Values: generation, 'running', hold. */
export const jobIsOpenToHold = {
  expression:
    '#generation = :c0 AND #status = :c1 AND (attribute_not_exists(#hold) OR #hold.#id = :c2)',
  names: { '#generation': 'generation', '#status': 'status', '#hold': 'hold', '#id': 'id' },
} as const satisfies Omit<ConditionClause, 'partiql'>;

/** P9: the channel has read its shard to the end. Values: true. */
export const channelIsFinished = {
  expression: '#finished = :c0',
  names: { '#finished': 'finished' },
} as const satisfies Omit<ConditionClause, 'partiql'>;
