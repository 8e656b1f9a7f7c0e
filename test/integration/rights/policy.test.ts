import { describe, expect, it } from 'vitest';
import { allows, covers, readRights } from './policy.ts';

const bucket = 'arn:aws:s3:::bucket';

const read = (changes: object) =>
  readRights('reader', {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: ['s3:GetObject', 's3:PutObject'],
        Resource: [`${bucket}/jobs/a/*`, `${bucket}/b?.txt`],
        ...changes,
      },
    ],
  });

const may = (action: string, resource: string, { role = 'reader', changes = {} } = {}) =>
  read(changes).some((right) => allows(right, { role, action, resource }));

describe('a policy', () => {
  it('is a list of rights: each action on each pattern', () => {
    expect(read({})).toHaveLength(4);
    expect(read({ Action: 's3:GetObject', Resource: bucket })).toEqual([
      { role: 'reader', action: 's3:GetObject', resource: bucket, isConditional: false },
    ]);
  });

  it.each([
    ['s3:GetObject', `${bucket}/jobs/a/x/y`, true],
    ['S3:getobject', `${bucket}/jobs/a/x`, true],
    ['s3:GetObject', `${bucket}/b1.txt`, true],
    ['s3:DeleteObject', `${bucket}/jobs/a/x`, false],
    ['s3:GetObjectVersion', `${bucket}/jobs/a/x`, false],
    ['s3:GetObject', `${bucket}/jobs/ab`, false],
    ['s3:GetObject', `${bucket}/b1-txt`, false],
    ['s3:GetObject', `${bucket}/b.txt`, false],
    ['s3:GetObject', bucket, false],
    ['s3:GetObject', `${bucket}/JOBS/a/x`, false],
  ])('on %s of %s says %s', (action, resource, isAllowed) => {
    expect(may(action, resource)).toBe(isAllowed);
  });

  it('is for one role', () => {
    expect(may('s3:GetObject', `${bucket}/b1.txt`, { role: 'other' })).toBe(false);
  });

  it('does not allow a role itself what a service may do for it', () => {
    const Condition = { StringEquals: { 'kms:ViaService': 's3.eu-central-1.amazonaws.com' } };
    const call = { role: 'reader', action: 's3:GetObject', resource: `${bucket}/b1.txt` };
    expect(may(call.action, call.resource, { changes: { Condition } })).toBe(false);
    expect(read({ Condition }).some((right) => covers(right, call))).toBe(true);
  });

  it.each([
    [{ Effect: 'Deny' }, /has Effect Deny/],
    [{ NotAction: 's3:*' }, /with NotAction are not understood/],
    [{ Resource: { 'Fn::GetAtt': ['Bucket', 'Arn'] } }, /expected a text/],
  ])('with %j is refused', (changes, why) => {
    expect(() => read(changes)).toThrow(why);
  });
});
