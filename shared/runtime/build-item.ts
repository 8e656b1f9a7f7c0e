import {
  findOversized,
  inlineEmissionBytesMax,
  packEmissions,
  rowBytesMax,
  type Spill,
} from '../core/emission.ts';
import { describeThrown, HoldfastError } from '../core/errors.ts';
import { crc32c } from '../core/crc32c.ts';
import { itemBytes, itemBytesMax, stateBytesMax, type StoredItem } from '../core/stored-item.ts';
import { encodeStates } from '../operator/key-state.ts';
import type { ChannelSession } from './channel-session.ts';
import { spillName } from './object-names.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import type { KeyRun } from './run-key.ts';

/** An object that has to stand before the item that names it (P2). */
export interface SpillObject {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type BuiltItem =
  | { readonly kind: 'built'; readonly item: StoredItem; readonly spill: SpillObject | undefined }
  | { readonly kind: 'refused'; readonly reason: string };

/** Makes the next item of a key that has run; refuses one that cannot be encoded or stored. */
export function buildItem(
  runtime: OperatorRuntime,
  session: ChannelSession,
  run: KeyRun,
  attempt: string,
): BuiltItem {
  let states: Uint8Array | undefined;
  let packed: Uint8Array | undefined;
  try {
    states = encodeStates(runtime.operator, run.live);
    packed = run.emissions.length === 0 ? undefined : packEmissions(run.emissions);
  } catch (thrown) {
    return { kind: 'refused', reason: `its state cannot be encoded: ${describeThrown(thrown)}` };
  }
  const { position } = run;
  if (position === undefined) {
    throw new HoldfastError('internal', `key ${run.place.key} is written without a position`);
  }
  const item: StoredItem = {
    key: run.place.key,
    keyGroup: run.place.keyGroup,
    version: run.stored === undefined ? runtime.system.randomVersion() : run.stored.version + 1,
    position,
    arrivalMs: run.arrivalMs,
    states,
    emissions: packed,
    spills: [],
    timers: run.timers,
  };
  const bytes = itemBytes(item) - (packed?.length ?? 0);
  if (bytes > stateBytesMax) {
    return {
      kind: 'refused',
      reason: `the item of key ${JSON.stringify(item.key)} would have ${bytes} bytes, at most ${stateBytesMax} fit into DynamoDB beside its outputs; keep less for each key, or split the key`,
    };
  }
  if (packed === undefined || !mustSpill(item, packed)) {
    return { kind: 'built', item, spill: undefined };
  }
  const oversized = findOversized(run.emissions);
  if (oversized !== undefined) {
    return {
      kind: 'refused',
      reason: `an output for sink ${oversized.sink} has more than ${rowBytesMax} bytes, which no row can hold; emit less, or several rows`,
    };
  }
  const { object, reference } = spillEmissions(runtime, session, run, packed, attempt);
  return {
    kind: 'built',
    item: { ...item, emissions: undefined, spills: [reference] },
    spill: object,
  };
}

/** P2: emissions that are large, or for which the item has no room left, go to an object of their own. */
export function mustSpill(item: StoredItem, packed: Uint8Array): boolean {
  return packed.length > inlineEmissionBytesMax || itemBytes(item) > itemBytesMax;
}

function spillEmissions(
  runtime: OperatorRuntime,
  session: ChannelSession,
  run: KeyRun,
  bytes: Uint8Array,
  attempt: string,
): { reference: Spill; object: SpillObject } {
  const { generation, head } = session.progress;
  const name = spillName(runtime.job, generation, session.id, {
    number: (head?.number ?? 0) + 1,
    // A rerun may spill again in the same attempt, so that the attempt alone does not name the object.
    id: `${attempt}-${run.place.hash}-${runtime.system.randomId()}`,
  });
  const last = run.emissions[run.emissions.length - 1]!.position;
  return {
    reference: { name, bytes: bytes.length, crc: crc32c(bytes), last },
    object: { name, bytes },
  };
}
