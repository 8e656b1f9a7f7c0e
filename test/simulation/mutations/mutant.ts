/** A change that breaks a rule of the protocol on purpose; the model has to notice. */
export interface Mutant {
  /** The rule of docs/protocol.md that it breaks. */
  readonly rule: string;
  readonly what: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /**
   * What has to notice: runs of the ledger, of windows, or of restores; or a test in `test/unit/runtime`, of what random runs
   * come to too rarely.
   *
   * @default 'ledger'
   */
  readonly noticedBy?: 'windows' | 'restore' | `${string}.test.ts`;
  /** A second edit of the same file. */
  readonly also?: { readonly find: string; readonly replace: string };
}
