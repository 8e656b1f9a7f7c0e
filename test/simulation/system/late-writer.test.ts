import { describe, expect, it } from 'vitest';
import { runLateWriter, type LateWriter } from './late-writer.ts';

/** Of the calls of the restore every so many is one at which the late one wakes; 1 for all of them. */
const stride = Number(process.env['HOLDFAST_MODEL_STRIDE'] ?? 9);
const never = Number.MAX_SAFE_INTEGER;

describe.each([
  { kind: 'invocation', stopsMin: 15, strideOfStops: 1 },
  { kind: 'twin', stopsMin: 60, strideOfStops: stride },
] as const)('a late $kind', ({ kind, stopsMin, strideOfStops }) => {
  it('changes nothing that counts, wherever it is stopped and whenever it goes on', async () => {
    const straight: LateWriter = { kind, stopsAfter: never, wakesAfter: never };
    const { lateCalls } = await runLateWriter(straight);
    expect(lateCalls).toBeGreaterThan(stopsMin);
    let runs = 0;
    for (let stopsAfter = 0; stopsAfter < lateCalls; stopsAfter += strideOfStops) {
      // Which calls the restore wakes it at goes through all of them as its own stops do.
      for (let wakesAfter = stopsAfter % stride; ; wakesAfter += stride) {
        const outcome = await runLateWriter({ kind, stopsAfter, wakesAfter });
        runs += 1;
        if (outcome.findings.length > 0) {
          expect.fail(
            `stopped after ${stopsAfter} calls, woken after ${wakesAfter} of the restore:\n${outcome.findings.join('\n')}`,
          );
        }
        if (outcome.restoreCalls < wakesAfter) break;
      }
    }
    expect(runs).toBeGreaterThan(100);
  }, 600_000);
});
