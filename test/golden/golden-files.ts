import * as z from 'zod';
import { encodeStateItem } from '../../shared/adapters/dynamodb/state-item.ts';
import { packEmissions } from '../../shared/core/emission.ts';
import { encodeBase, encodeManifest } from '../../shared/core/manifest-codec.ts';
import { encodeRunFile } from '../../shared/core/run-file.ts';
import { encodeSegment } from '../../shared/core/segment.ts';
import { encodeStates } from '../../shared/operator/key-state.ts';
import { defineOperator, type Operator } from '../../shared/operator/operator.ts';
import * as recovery1 from './recovery-point-1.ts';
import { writeItems } from './state-item-text.ts';
import * as version1 from './version-1.ts';

/** The operator whose states the golden file holds. */
export function goldenOperator(): Operator {
  return defineOperator({
    id: 'flight-delays',
    schema: z.unknown(),
    key: () => 'SEA',
    state: version1.stateDescriptors,
    process: () => undefined,
  });
}

/** The state items of the golden file, as the present code encodes them. */
export function encodeStateItems(): string {
  return writeItems(
    version1.items.map((item) => encodeStateItem(version1.statePartitionPrefix, item)),
  );
}

/** Every golden file with what makes it. Formats that are superseded keep their file and lose their entry. */
export const goldenFiles: Readonly<Record<string, () => Uint8Array>> = {
  'segment-v1.seg': () => encodeSegment(version1.segment),
  'segment-empty-v1.seg': () => encodeSegment(version1.emptySegment),
  'run-file-v1.run': () => encodeRunFile(recovery1.runFileHeader, recovery1.runEntries).bytes,
  'manifest-v1.json': () => encodeManifest(recovery1.manifest),
  'base-v1.json': () => encodeBase(recovery1.base),
  'states-v1.msgpack': () => encodeStates(goldenOperator(), version1.liveStates)!,
  'emissions-v1.msgpack': () => packEmissions(version1.emissions),
  'state-items-v1.json': () => new TextEncoder().encode(encodeStateItems()),
};

/** Where a golden file is. */
export function goldenUrl(name: string): URL {
  return new URL(name, import.meta.url);
}
