import type { AttributeValue, DocumentPath } from './dynalite-internals.ts';

/** A value that a statement spells or leaves to a parameter. */
export type Term =
  | { readonly kind: 'parameter'; readonly index: number }
  | { readonly kind: 'literal'; readonly value: AttributeValue }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, Term])[] }
  | { readonly kind: 'list'; readonly members: readonly Term[] }
  | { readonly kind: 'set'; readonly members: readonly Term[] }
  | { readonly kind: 'path'; readonly path: DocumentPath }
  | { readonly kind: 'size'; readonly of: Term };

/** `type` and `name` are those of dynalite's conditions. */
export type Predicate =
  | { readonly type: 'and' | 'or' | 'not'; readonly args: readonly Predicate[] }
  | {
      readonly type: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'between' | 'in' | 'function';
      readonly name?: string;
      readonly terms: readonly Term[];
    };

export type Change =
  | { readonly kind: 'set'; readonly path: DocumentPath; readonly value: Term | Arithmetic }
  | { readonly kind: 'remove'; readonly path: DocumentPath };

export interface Arithmetic {
  readonly kind: 'sum';
  readonly sign: 'add' | 'subtract';
  readonly left: Term;
  readonly right: Term;
}

/** A parsed statement: the same for every set of parameters. */
export type Statement = { readonly table: string; readonly parameterCount: number } & (
  | { readonly kind: 'insert'; readonly item: Term }
  | {
      readonly kind: 'update';
      readonly changes: readonly Change[];
      readonly where: Predicate;
      readonly returning: string | undefined;
    }
  | { readonly kind: 'delete'; readonly where: Predicate; readonly returning: string | undefined }
  | {
      readonly kind: 'select';
      /** `undefined` for `*`. */
      readonly projection: readonly DocumentPath[] | undefined;
      readonly where: Predicate;
    }
);
