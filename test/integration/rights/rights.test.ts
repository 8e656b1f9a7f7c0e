import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRights, recordRights, type RightsRecord } from './compare-rights.ts';
import { excuses } from './excuses.ts';
import { playJobs } from './play-jobs.ts';
import { startRightsAws, type RightsAws } from './rights-aws.ts';

/*
 * What functions ask for in all that two jobs come to, against the policies of the template that they run from. Their clients go
 * through proxies, and sign with the name of their role.
 */

let rights: RightsAws;
let record: RightsRecord;

// On a machine that has much else to do.
const timeoutMs = 900_000;

beforeAll(async () => {
  rights = await startRightsAws();
  await playJobs(rights);
  record = await recordRights(rights);
}, timeoutMs);

afterAll(async () => {
  await rights?.stop();
});

const nothing = { denied: [], unused: [], wide: [], idle: [] };

describe('the rights of functions, schedules and workflows', () => {
  it('are what they use, no less and no more', () => {
    expect(record.calls.length).toBeGreaterThan(500);
    expect(compareRights(record, excuses)).toEqual(nothing);
  });

  it('are told missing, unused or wide where somebody changes them', () => {
    const { name } = record;
    const change = (granted: RightsRecord['granted']) =>
      compareRights({ ...record, granted }, excuses);
    const called = (right: string) => record.granted.find((one) => name(one) === right)!;

    const progress = 'Operator dynamodb:PutItem Control';
    const without = record.granted.filter((one) => name(one) !== progress);
    expect(change(without)).toEqual({ ...nothing, denied: [progress] });

    const more = { ...called(progress), action: 'dynamodb:DeleteItem' };
    expect(change([...record.granted, more])).toEqual({ ...nothing, unused: [name(more)] });

    const objects = called('CoordinatorHandler s3:DeleteObject Checkpoints/jobs/<job>/*');
    const wider = { ...objects, resource: objects.resource.replace(/jobs\/.*$/, '*') };
    const widened = record.granted.map((one) => (one === objects ? wider : one));
    expect(change(widened)).toMatchObject({ denied: [], wide: [name(wider)] });
  });
});
