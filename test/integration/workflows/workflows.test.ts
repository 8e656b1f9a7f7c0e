import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedgerAws, type LedgerAws } from './ledger-aws.ts';
import { runHoldfast, type HoldfastRun } from './run-holdfast.ts';

let ledger: LedgerAws;

beforeAll(async () => {
  ledger = await startLedgerAws();
});

afterAll(async () => {
  await ledger?.stop();
});

const holdfast = (...args: string[]): Promise<HoldfastRun> => runHoldfast(ledger, ...args);

/** Runs a command that must succeed and gives what it prints as JSON. */
const ask = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { code, out, err } = await holdfast(...args, '--json');
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
};

const generations = async (): Promise<Record<string, unknown>[]> =>
  (await ask('generations', 'list')) as unknown as Record<string, unknown>[];

/* One job; each test goes on where the one before it has left it. */
describe('savepoints and restores on the embedded AWS', () => {
  it('make a savepoint and tell what it is of', async () => {
    await ledger.put(1, 40);
    await ledger.whenDone();
    const made = await ask('savepoint', 'create', 'first', '--note', 'a note', '--tag', 'git=abc');
    expect(made).toMatchObject({ label: 'first', generation: 1, keys: 5 });
    const { code, out } = await holdfast('savepoint', 'show', 'first');
    expect(code).toBe(0);
    expect(out).toMatch(/from +savepoint first/);
    expect(out).toMatch(/note +a note/);
    expect(out).toMatch(/tags +git=abc/);
    expect((await holdfast('savepoint', 'list')).out).toMatch(/^first +1 /m);
    expect(await ask('savepoint', 'verify', 'first')).toMatchObject({ label: 'first', files: 1 });
    const again = await holdfast('savepoint', 'create', 'first');
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain('job ledger has a savepoint first from');
  });

  it('restore it while processes are killed, and leave the tables as they were', async () => {
    await ledger.put(41, 80);
    await ledger.whenDone();
    expect(await ledger.visible()).toEqual(ledger.expected(80));
    ledger.aws.chaos.change({ killDuringInvocation: { probability: 0.4, atMost: 8 } });
    const { code, out, err } = await holdfast('restore', 'first', '--yes', '--json');
    ledger.aws.chaos.change({});
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ generation: 2, keys: 5, unswept: [] });
    expect(err).toMatch(/from +savepoint first/);
    expect(err).toContain('Load the state');
    expect(ledger.aws.chaos.counts().killDuringInvocation).toBeGreaterThan(0);
    expect(await ledger.visible()).toEqual(ledger.expected(80));
    await ledger.put(81, 100);
    await ledger.whenDone();
    expect(await ledger.visible()).toEqual(ledger.expected(100));
  });

  it('undo the restore', async () => {
    const undone = await ask('restore', '--undo', '--yes');
    expect(undone).toMatchObject({ generation: 3 });
    expect(await ledger.visible()).toEqual(ledger.expected(100));
    expect(await generations()).toMatchObject([
      { generation: 1, state: 'past' },
      { generation: 2, state: 'past', parent: 1 },
      { generation: 3, state: 'present', parent: 1 },
    ]);
  });

  it('stop the job at a savepoint until it is resumed', async () => {
    await ask('savepoint', 'create', 'stopped', '--stop');
    await ledger.put(101, 120);
    const held = await holdfast('savepoint', 'create', 'while-stopped', '--stop');
    expect(held).toMatchObject({ code: 1 });
    expect(held.err).toContain('job ledger is held by stopped stopped since');
    expect(await ledger.visible()).toEqual(ledger.expected(100));
    expect(await ask('resume')).toEqual({ generation: 3 });
    await ledger.whenDone();
    expect(await ledger.visible()).toEqual(ledger.expected(120));
    expect((await holdfast('resume')).out).toContain('the job runs already, in generation 3');
  });

  it('drill a savepoint and leave nothing', async () => {
    expect((await ledger.stateItems(3)).length).toBeGreaterThan(0);
    const drilled = await ask('drill', 'first');
    expect(drilled).toMatchObject({ generation: 4, keys: 5 });
    expect(drilled['keysPerSecond']).toBeGreaterThan(0);
    expect(await ledger.stateItems(4)).toEqual([]);
    expect(await ledger.visible()).toEqual(ledger.expected(120));
    expect((await generations()).at(-1)).toMatchObject({ generation: 4, state: 'unused' });
  });

  it('delete the state of a generation that is over, and of no other', async () => {
    expect((await ledger.stateItems(1)).length).toBeGreaterThan(0);
    expect(await ask('generations', 'delete', '1', '--yes')).toMatchObject({ generation: 1 });
    expect(await ledger.stateItems(1)).toEqual([]);
    const present = await holdfast('generations', 'delete', '3', '--yes');
    expect(present).toMatchObject({ code: 1 });
    expect(present.err).toContain('job ledger is in generation 3; its state cannot be deleted');
  });

  it('say why a restore cannot be had, and let the job go on', async () => {
    const unknown = await holdfast('restore', 'other', '--yes');
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.err).toMatch(/job ledger has no manifest "other"; there are .*first/);
    const { s3 } = ledger.clients;
    const file = {
      Bucket: ledger.output('Bucket'),
      Key: 'jobs/ledger/savepoints/stopped/files/000001.run',
    };
    const { Body } = await s3.send(new GetObjectCommand(file));
    const bytes = (await Body!.transformToByteArray()).map((byte, at) =>
      at < 100 ? byte : byte ^ 1,
    );
    await s3.send(new PutObjectCommand({ ...file, Body: bytes }));
    const damaged = await holdfast('restore', 'stopped', '--yes');
    expect(damaged).toMatchObject({ code: 1 });
    expect(damaged.err).toMatch(
      /has failed before it changed anything; the job goes on as before: state file .* not the checksum that its manifest promises/,
    );
    expect((await holdfast('savepoint', 'verify', 'stopped')).code).toBe(2);
    await s3.send(new DeleteObjectCommand(file));
    const missing = await holdfast('restore', 'stopped', '--yes');
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.err).toMatch(
      /the job cannot be restored from it:\n- files are not in the bucket, .*000001.run/,
    );
    await ledger.put(121, 140);
    await ledger.whenDone();
    expect(await ledger.visible()).toEqual(ledger.expected(140));
  });

  it('read from the backup what is missing, where somebody asks for it', async () => {
    const name = 'jobs/ledger/savepoints/stopped/files/000001.run';
    const verified = await holdfast('savepoint', 'verify', 'stopped', '--from-backup');
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.out).toContain(`from backup: ${name}`);
    expect(verified.out).toContain('1 of them from the backup alone');
    const drilled = await ask('drill', 'stopped', '--from-backup');
    expect(drilled).toMatchObject({ keys: 5, fellBack: [name] });
    const { code, out, err } = await holdfast(
      ...['restore', 'stopped', '--from-backup', '--yes', '--json'],
    );
    expect(code, err).toBe(0);
    expect(err).toMatch(new RegExp(`from backup +${name}`));
    expect(JSON.parse(out)).toMatchObject({ keys: 5, fellBack: [name] });
    expect(await ledger.visible()).toEqual(ledger.expected(140));
  });

  it('delete a savepoint, where that is confirmed and nothing needs it', async () => {
    const asked = await holdfast('savepoint', 'delete', 'stopped');
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.err).toContain('This deletes savepoint stopped for ever. Go on? [y/N]');
    const { code, err } = await holdfast('savepoint', 'delete', 'stopped', '--yes');
    expect(code, err).toBe(0);
    expect((await holdfast('savepoint', 'list')).out).not.toContain('stopped');
    // The undo point of the first restore lists its files.
    const needed = await holdfast('savepoint', 'delete', 'first', '--yes');
    expect(needed).toMatchObject({ code: 1 });
    expect(needed.err).toContain('savepoint first cannot be deleted yet');
  });

  it('restore to a moment of the past, not to a checkpoint alone', async () => {
    await ask('savepoint', 'create', 'late');
    await ledger.put(141, 150);
    await ledger.whenDone();
    const moment = new Date().toISOString();
    await ledger.put(151, 160);
    await ledger.whenDone();
    const restored = await ask('restore', '--to-time', moment, '--yes');
    expect(restored).toMatchObject({ keys: 5 });
    expect(await ledger.visible()).toEqual(ledger.expected(160));
    const early = await holdfast('restore', '--to-time', '2001-01-01T00:00:00Z', '--yes');
    expect(early).toMatchObject({ code: 1 });
    expect(early.err).toContain('has no exact manifest of generation');
  });

  it('restore to records of shards, each by its position', async () => {
    await ask('savepoint', 'create', 'later');
    await ledger.put(161, 170);
    await ledger.whenDone();
    const shard = 'shardId-000000000000';
    const newest = '9'.repeat(56);
    const restored = await ask('restore', '--to-position', `${shard}=${newest}`, '--yes');
    expect(restored).toMatchObject({ keys: 5, replayed: 0 });
    expect(await ledger.visible()).toEqual(ledger.expected(170));
    const unknown = await holdfast('restore', '--to-position', 'shardId-9=1', '--yes');
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.err).toContain(`has not read shardId-9 in generation`);
    const wrong = await holdfast('restore', '--to-position', `${shard}:1`, '--yes');
    expect(wrong.err).toContain('expected <shard id>=<sequence number>');
  });
});
