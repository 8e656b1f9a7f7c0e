import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { ConditionalWrite, ReplaceRule } from './conditional-write.ts';
import type { Item } from './table-keys.ts';

/** Longest statement that DynamoDB takes. */
export const statementCharactersMax = 8_192;

export interface BoundStatement {
  readonly Statement: string;
  readonly Parameters: AttributeValue[];
}

/** Makes statements for one table. Texts depend on the names of attributes alone and are kept by them. */
export function createStatementTexts(table: string): (write: ConditionalWrite) => BoundStatement {
  const inserts = new Map<string, string>();
  const replacements = new Map<ReplaceRule, Map<string, string>>();
  const patches = new Map<string, string>();

  return (write) => {
    switch (write.kind) {
      case 'create': {
        const names = Object.keys(write.item);
        return {
          Statement: remember(inserts, names.join(), () => insertText(table, names)),
          Parameters: Object.values(write.item),
        };
      }
      case 'replace': {
        const { rule, item, values } = write;
        const names = Object.keys(item).filter(isNoKey);
        const texts = replacements.get(rule) ?? new Map<string, string>();
        replacements.set(rule, texts);
        return {
          Statement: remember(texts, names.join(), () => replaceText(table, names, rule)),
          Parameters: bind(names, item, item, values),
        };
      }
      case 'patch': {
        const { key, changes, condition, values } = write;
        const names = Object.keys(changes);
        const shape = `${names.join()} ${condition.partiql}`;
        return {
          Statement: remember(
            patches,
            shape,
            () => `UPDATE ${quote(table)}${setText(names)}${whereText(condition.partiql)}`,
          ),
          Parameters: bind(names, changes, key, values),
        };
      }
    }
  };
}

function insertText(table: string, names: readonly string[]): string {
  return `INSERT INTO ${quote(table)} VALUE {${names.map((name) => `'${name}':?`).join()}}`;
}

function replaceText(table: string, names: readonly string[], rule: ReplaceRule): string {
  const removals = rule.removable
    .filter((name) => !names.includes(name))
    .map((name) => ` REMOVE ${quote(name)}`);
  return `UPDATE ${quote(table)}${setText(names)}${removals.join('')}${whereText(rule.condition.partiql)}`;
}

function setText(names: readonly string[]): string {
  return names.map((name) => ` SET ${quote(name)}=?`).join('');
}

function whereText(condition: string): string {
  return ` WHERE "pk"=? AND "sk"=? AND ${condition}`;
}

function bind(
  names: readonly string[],
  item: Item,
  key: Item,
  values: readonly AttributeValue[],
): AttributeValue[] {
  const parameters = names.map((name) => item[name]!);
  parameters.push(key['pk']!, key['sk']!, ...values);
  return parameters;
}

function isNoKey(name: string): boolean {
  return name !== 'pk' && name !== 'sk';
}

// Always quoted: many ordinary words, `ttl` among them, are reserved.
function quote(name: string): string {
  return `"${name}"`;
}

function remember(texts: Map<string, string>, shape: string, make: () => string): string {
  let text = texts.get(shape);
  if (text === undefined) texts.set(shape, (text = make()));
  return text;
}
