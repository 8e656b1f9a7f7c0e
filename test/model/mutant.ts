/** A change that breaks a rule of the protocol on purpose; the model has to notice. */
export interface Mutant {
  /** The rule of docs/protocol.md that it breaks. */
  readonly rule: string;
  readonly what: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Which runs have to notice: those of the ledger, of windows, or of restores. @default 'ledger' */
  readonly noticedBy?: 'windows' | 'restore';
  /** A second edit of the same file. */
  readonly also?: { readonly find: string; readonly replace: string };
}
