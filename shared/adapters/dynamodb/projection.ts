/** What a read brings of each item. Names behind placeholders: many are reserved, and `_` may not begin one. */
export function projectionOf(attributes: readonly string[]): {
  readonly ProjectionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
} {
  return {
    ProjectionExpression: attributes.map((_, at) => `#a${at}`).join(),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, at) => [`#a${at}`, name])),
  };
}
