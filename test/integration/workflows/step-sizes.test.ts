import { describe, expect, it } from 'vitest';
import { cutRange, explainFailure } from '../../../shared/composition/aws/workflow-step.ts';
import { runStep } from '../../../shared/composition/aws/step-handler.ts';
import { PARTS_MAX } from '../../../shared/config/workflow-steps.ts';
import { encodeBase } from '../../../shared/core/manifest-codec.ts';
import { baseName } from '../../../shared/runtime/object-names.ts';
import { jobName } from '../../unit/runtime/job-fixture.ts';
import { half } from '../../unit/runtime/restore/two-halves.ts';

const minute = { remainingMs: () => 60_000 };

/** A restore's list of parts, over a base of so many files. */
const planOver = async (count: number) => {
  const { job, ports, object } = await half((world) => world.checkpoint());
  const files = Array.from({ length: count }, (_, at) => ({
    name: `jobs/${jobName}/compactions/000000000099/${String(at).padStart(6, '0')}.run`,
    operator: job.operator.id,
    ...{ bytes: 1, crc: 0, groups: [0, 0] as const, keys: 1, tombstones: 0 },
  }));
  const base = { job: jobName, generation: 1, runs: [{ files }], compacted: [] };
  const name = baseName(jobName, 99);
  await ports.objects.create(name, encodeBase(base));
  const order = {
    ...{ restore: 'r', manifest: object, dryRun: true },
    ...{
      allowNonRestoredState: false,
      acceptsGaps: false,
      areTablesLost: false,
      fromBackup: false,
    },
  };
  return (await runStep(
    ports,
    {
      ...{ step: 'restore.reserve', order, hold: { id: '', jobVersion: 0 } },
      base: {
        ...{ number: 99, mustMerge: true, nextFile: 0, isDone: true, object: name },
        ...{ doneBytes: 0, totalBytes: 0, rounds: 1 },
      },
    },
    minute,
  )) as {
    loads: { from: number; to: number }[];
    compares: { from: number; to: number }[];
  };
};

describe('what a workflow carries', () => {
  it('stays small however large the state is', async () => {
    const plan = await planOver(20_000);
    expect(plan.loads.length).toBeLessThanOrEqual(PARTS_MAX);
    expect(plan.compares.length).toBeLessThanOrEqual(PARTS_MAX);
    expect(JSON.stringify(plan).length).toBeLessThan(32 * 1024);
    let next = 0;
    for (const { from, to } of plan.loads) {
      expect(from).toBe(next);
      next = to;
    }
    expect(next).toBe(20_000);
  });

  it('is one part where the state is small', async () => {
    const plan = await planOver(1);
    expect(plan.loads).toMatchObject([{ from: 0, to: 1 }]);
    expect(plan.compares).toHaveLength(1);
  });

  it.each([
    [0, 5],
    [1, 5],
    [7, 5],
    [1000, 40],
  ])('is cut without gaps: %i into at most %i', (length, most) => {
    const parts = cutRange(length, most);
    expect(parts.length).toBeLessThanOrEqual(most);
    expect(parts[0]!.from).toBe(0);
    expect(parts.at(-1)!.to).toBe(length);
    for (const [at, { from }] of parts.entries()) if (at > 0) expect(from).toBe(parts[at - 1]!.to);
  });
});

describe('a failure in words', () => {
  const cause = (errorMessage: string) => JSON.stringify({ errorType: 'x', errorMessage });

  it.each([
    [{ Error: 'Holdfast.invalid', Cause: cause('it is refused') }, 'it is refused'],
    [{ Error: 'Runtime.ExitError', Cause: cause('it died') }, 'Runtime.ExitError: it died'],
    [{ Error: 'States.Timeout', Cause: '' }, 'States.Timeout'],
    [{ Error: 'States.Timeout', Cause: 'no JSON' }, 'States.Timeout: no JSON'],
    [{}, 'an unknown error'],
  ])('is read out of %j', (failure, words) => {
    expect(explainFailure(failure)).toBe(words);
  });
});

describe('a step', () => {
  it('that there is not is refused, with those that there are', async () => {
    const { ports } = await half((world) => world.checkpoint());
    await expect(runStep(ports, { step: 'restore.undo' }, minute)).rejects.toMatchObject({
      name: 'Holdfast.invalid',
      message: expect.stringMatching(
        /there is no step "restore.undo", expected one of savepoint/,
      ) as unknown,
    });
    await expect(runStep(ports, null, minute)).rejects.toMatchObject({ name: 'Holdfast.invalid' });
  });

  it('says what of its input is wrong', async () => {
    const { ports } = await half((world) => world.checkpoint());
    await expect(
      runStep(ports, { step: 'restore.fence', hold: { id: 1 } }, minute),
    ).rejects.toMatchObject({
      name: 'Holdfast.invalid',
      message: expect.stringMatching(/step restore.fence .*hold/s) as unknown,
    });
  });
});
