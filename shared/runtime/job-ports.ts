import type { ControlStore } from '../ports/control-store.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { System } from '../ports/system.ts';
import type { Telemetry } from '../ports/telemetry.ts';

/** What those need who look after a job from outside of its operators: coordinator, savepoint, restore. */
export interface JobPorts {
  readonly job: string;
  readonly control: ControlStore;
  readonly objects: ObjectStore;
  /** Takes second copies of manifests and savepoints, under the same names. @default none */
  readonly backup?: ObjectStore;
  readonly system: System;
  readonly telemetry: Telemetry;
}
