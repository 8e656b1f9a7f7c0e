import { describe, expect, it } from 'vitest';
import type { StreamMapping } from '../../../../shared/ports/stream-mappings.ts';
import { checkRestore } from '../../../../shared/runtime/restore/check-restore.ts';
import { restoreJob } from './restore-job.ts';
import { jobName } from '../job-fixture.ts';
import { soundMapping } from './sound-mapping.ts';
import { half, visible } from './two-halves.ts';

/** A job whose mapping somebody has changed. */
const changed = async (change: (stream: string) => StreamMapping | undefined) => {
  const world = await half((one) => one.checkpoint());
  const { name } = (await world.ports.reader.describe()).incarnation;
  const ports = { ...world.ports, mappings: { read: async () => change(name) } };
  const order = {
    ...{ restore: 'r', manifest: world.object, areTablesLost: false },
    ...{ allowNonRestoredState: true, acceptsGaps: true },
  };
  return { ...world, ports, order };
};

describe('a restore of a job whose mapping is not as it was deployed', () => {
  it.each<[Partial<StreamMapping>, string]>([
    [{ startingPosition: 'LATEST' }, 'starts at LATEST'],
    [{ startingPosition: 'AT_TIMESTAMP' }, 'starts at AT_TIMESTAMP'],
    [{ parallelizationFactor: 2 }, 'has ParallelizationFactor 2'],
    [{ retriesMax: 10 }, 'gives a batch up after 10 retries'],
    [{ retriesMax: 0 }, 'gives a batch up after 0 retries'],
    [{ recordAgeSecondsMax: 3600 }, 'gives records up that are 3600 s old'],
    [{ hasFilters: true }, 'has filters'],
    [{ bisectsOnError: true }, 'cuts a batch in two'],
    [{ tumblingWindowSeconds: 60 }, 'has a tumbling window of 60 s'],
    [{ reportsItemFailures: false }, 'does not read from which record on'],
    [
      { source: 'arn:aws:kinesis:eu-central-1:123456789012:stream/other' },
      'reads arn:aws:kinesis:eu-central-1:123456789012:stream/other',
    ],
    [
      { source: 'arn:aws:kinesis:eu-central-1:123456789012:stream/events/consumer/fan:1' },
      'has enhanced fan-out',
    ],
  ])('is refused before anything is held: %j', async (change, text) => {
    const { job, ports, order } = await changed((stream) => soundMapping(stream, change));
    const was = await job.control.readJob(jobName);
    const registry = await job.control.readRegistry(jobName);
    await expect(restoreJob(ports, order)).rejects.toThrow(
      `1 thing stands against it:\n- the event source mapping of operator ${job.operator.id} ${text}`,
    );
    expect(await job.control.readJob(jobName)).toEqual(was);
    expect(await job.control.readRegistry(jobName)).toEqual(registry);
  });

  it('is refused with all that was changed, each with its remedy', async () => {
    const { ports, order } = await changed((stream) =>
      soundMapping(stream, { retriesMax: 3, hasFilters: true, startingPosition: 'LATEST' }),
    );
    const { differences } = await checkRestore(ports, order);
    expect(differences.map(({ remedy }) => remedy)).toEqual([
      'make it anew with TRIM_HORIZON',
      'set MaximumRetryAttempts to -1',
      'remove them, and filter in the operator',
    ]);
    await expect(restoreJob(ports, order)).rejects.toThrow('3 things stand against it');
  });

  it('is refused where it is gone', async () => {
    const { ports, order } = await changed(() => undefined);
    await expect(restoreJob(ports, order)).rejects.toThrow('that was deployed is gone');
  });

  it('is made where it is only disabled, with a warning', async () => {
    const { job, ports, order } = await changed((stream) =>
      soundMapping(stream, { isEnabled: false }),
    );
    const before = visible(job);
    const { differences, warnings } = await checkRestore(ports, order);
    expect(differences).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('is disabled')]);
    expect(await restoreJob(ports, order)).toMatchObject({ generation: 2 });
    expect(visible(job)).toEqual(before);
  });
});
