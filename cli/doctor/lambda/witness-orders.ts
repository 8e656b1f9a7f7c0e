/*
 * What the doctor and its function in the cloud say to each other. Bundled into the function: no Node, no AWS.
 */

/** What a record tells the function to do with it. Its number also stands for its place in the shard. */
export interface WitnessRecord {
  readonly number: number;
  readonly act?: 'hand-back-once' | 'throw-once' | 'throw-always';
}

/** What the function is invoked with, by hand or by a state machine. */
export type WitnessOrder =
  | { readonly order: 'answer'; readonly value: unknown }
  /** Writes an item, to see whether the function finds the table. */
  | { readonly order: 'write'; readonly id: string }
  /** Throws an error of that name; counts under the id how often it was asked. */
  | { readonly order: 'fail'; readonly id: string; readonly error: string; readonly times: number }
  /** One step of a loop. */
  | { readonly order: 'step'; readonly done: number; readonly total: number };

/** How a batch ended. Numbers are those of records. */
export type DeliveryEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'handed-back'; readonly from: number }
  | { readonly kind: 'thrown' };

/** One batch as the function got it. */
export interface Delivery {
  readonly shard: string;
  readonly numbers: readonly number[];
  readonly end: DeliveryEnd;
}

/** The partition of the items that tell of the batches of a stream. */
export const deliveriesOf = (streamArn: string): string => `deliveries ${streamArn}`;

export const witnessTableVariable = 'HOLDFAST_DOCTOR_TABLE';
