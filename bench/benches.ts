import { checkpoint } from './checkpoint/checkpoint.ts';
import { coldStart } from './cold-start/cold-start.ts';
import { floor } from './floor/floor.ts';
import type { Bench } from './harness/bench.ts';
import { peers } from './peers/peers.ts';
import { recovery } from './recovery/recovery.ts';
import { scale } from './scale/scale.ts';
import { recordLoop } from './record-loop/record-loop.ts';
import { state2gb } from './state/state-2gb.ts';
import { unitRequests } from './unit-requests/unit-requests.ts';

/** All that can be run, in the order in which they are. */
export const benches: readonly Bench[] = [
  floor,
  recordLoop,
  unitRequests,
  peers,
  checkpoint,
  recovery,
  scale,
  coldStart,
  state2gb,
];
