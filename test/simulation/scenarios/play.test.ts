import { describe, expect, it } from 'vitest';
import { openPlay } from './play.ts';

describe('a play', () => {
  it('moves nobody but who is let go on', async () => {
    const play = await openPlay({ shards: 2 });
    for (const account of ['k0', 'k1', 'k2', 'k3']) play.put(account);
    const low = play.deliver('low', { shard: 0 });
    await play.deliver('high', { shard: 1 }).goOn();
    expect(play.trace.filter((line) => line.startsWith('low '))).toEqual([]);
    expect(await low.goOn()).toBe('done');
  });

  it('stops before a call has its effect, or behind it', async () => {
    const play = await openPlay();
    play.put('k0');
    const one = play.deliver('one');
    await one.until('before state.write k0');
    expect(play.world.state.rows()).toHaveLength(0);
    await one.until('after state.write');
    expect(play.world.state.rows()).toHaveLength(1);
  });

  it('lets a dead process make no call any more', async () => {
    const play = await openPlay();
    play.put('k0');
    const one = play.deliver('one');
    await one.until('before sink.journal');
    await one.die();
    expect(await one.goOn()).toBe('died');
    expect(play.world.sinks.journal.rows()).toHaveLength(0);
    await play.calm();
    expect(await play.audit()).toEqual([]);
  });

  it('lets a refused call have no effect, and one whose reply is lost have it', async () => {
    const play = await openPlay();
    play.put('k0');
    const refused = play.deliver('refused');
    refused.refuse('state.write k0');
    expect(await refused.goOn()).toMatch(/^handed back: state.write k0: refused/);
    expect(play.world.state.rows()).toHaveLength(0);
    const lost = play.deliver('lost');
    lost.loseReplyOf('sink.journal k0');
    expect(await lost.goOn()).toMatch(/^handed back: sink.journal k0: no reply/);
    expect(play.world.sinks.journal.rows()).toHaveLength(1);
  });

  it('says where somebody never comes, and what was to go wrong and has not', async () => {
    const play = await openPlay();
    play.put('k0');
    const one = play.deliver('one');
    one.refuse('hint.insert');
    await expect(one.until('before state.remove')).rejects.toThrow(
      'one has ended, done, and never came to before state.remove',
    );
    expect(await play.audit()).toContain('one has made no hint.insert to be refused');
  });

  it('finds what is amiss, and tells the story', async () => {
    const play = await openPlay();
    play.put('k0');
    await play.deliver('one').goOn();
    const { journal } = play.world.sinks;
    for await (const row of journal.scan()) await journal.remove([row]);
    const findings = await play.audit();
    expect(findings[0]).toMatch(/of k0 count no rows/);
    expect(findings.at(-1)).toContain('state.write k0');
  });
});
