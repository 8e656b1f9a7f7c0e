import { describe, expect, it } from 'vitest';
import { calls, coverageOf, formatCoverage, missingCoverage } from './coverage.ts';

/** Every call with each of its faults, once. */
function everything() {
  const pairs = Object.entries(calls).flatMap(([call, faults]) =>
    faults.map((fault): [string, number] => [`${fault} × ${call}`, 1]),
  );
  return { steps: new Map(Object.keys(calls).map((call) => [call, 2])), strikes: new Map(pairs) };
}

describe('coverage', () => {
  it('counts the steps and faults of a run, those of all sinks together', () => {
    const { steps, strikes } = coverageOf({
      findings: [],
      trace: [
        '#1 before state.write k1',
        '#1 after state.write k1',
        '  reply-lost: state.write k1',
        '#1 before sink.journal k1',
        '#2 before sink.balance k1 ✝',
        'R3 before sink.journal.scan',
        '  found: a row is before state.load',
      ],
      strikes: new Map([
        ['reply-lost × state.write', 1],
        ['killed before × sink.journal', 2],
        ['killed before × sink.balance', 1],
      ]),
    });
    expect([...steps]).toEqual([
      ['state.write', 2],
      ['sink.write', 2],
      ['sink.scan', 1],
    ]);
    expect([...strikes]).toEqual([
      ['reply-lost × state.write', 1],
      ['killed before × sink.write', 3],
    ]);
  });

  it('misses nothing where each fault has hit each call that it can hit', () => {
    expect(missingCoverage(everything())).toEqual([]);
  });

  it('names the pairs that never happened, and the calls that never came', () => {
    const { steps, strikes } = everything();
    strikes.delete('stale × stream.shards');
    steps.delete('state.scan');
    expect(missingCoverage({ steps, strikes })).toEqual([
      'no run calls state.scan',
      'stale × stream.shards never happened',
    ]);
  });

  it('names calls of which nobody has said what can go wrong', () => {
    const { steps, strikes } = everything();
    steps.set('queue.send', 1);
    expect(missingCoverage({ steps, strikes })).toEqual([
      expect.stringContaining('queue.send is called: say'),
    ]);
  });

  it('is told as a table, with a 0 where something is missing', () => {
    const { steps, strikes } = everything();
    strikes.delete('corrupted × object.read');
    const row = formatCoverage({ steps, strikes })
      .split('\n')
      .find((line) => line.startsWith('object.read '));
    expect(row?.split(/ +/)).toEqual(['object.read', '2', '1', '1', '1', '0']);
  });
});
