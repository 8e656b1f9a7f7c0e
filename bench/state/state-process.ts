import { peakRssBytes } from '../harness/machine.ts';
import { createFileObjectStore } from './file-object-store.ts';
import { writeLargeState, type LargeStateShape } from './large-state.ts';
import { stateSteps, type StateStep } from './state-steps.ts';

/*
 * A process that does one thing with a large state, so that the most memory that it has had is what this takes:
 *
 *   node state-process.ts write <folder> <shape as JSON>
 *   node state-process.ts compact|verify|load <folder>
 *
 * Prints what it has done as one line of JSON.
 */

const [task, folder, shape] = process.argv.slice(2) as [StateStep | 'write', string, string];
const objects = createFileObjectStore(folder);

if (task === 'write') {
  const { manifest: _, ...written } = await writeLargeState(
    objects,
    JSON.parse(shape) as LargeStateShape,
  );
  print(written);
} else {
  const startRss = peakRssBytes();
  const startedMs = performance.now();
  const result = await stateSteps[task](objects);
  const seconds = (performance.now() - startedMs) / 1000;
  print({ ...result, seconds, startRssBytes: startRss, peakRssBytes: peakRssBytes() });
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
