import { describe, expect, it } from 'vitest';
import { tellEnd, tellTrace } from './tell-trace.ts';

const trace = [
  '#1 before state.load',
  '#1 after state.load',
  '#1 before state.write k1',
  '#2 before state.load',
  '#2 after state.load',
  '#2 before state.load',
  '#2 after state.load',
  '#1 after state.write k1',
  '  reply-lost: state.write k1',
  '#2 before progress.commit',
  '  found: k1 is gone',
  '#2 after progress.commit ✝',
  `V3 before object.read jobs/j/generations/1/segments/s-1/0001-${'ab'.repeat(16)}.seg`,
  'X4 before job.read ✝',
  '  S5 is savepoint.cut',
  '  — put',
  'S5 before job.read',
];

describe('the story of a run', () => {
  it('tells which process does what, deaths, faults and findings, consecutive steps together', () => {
    const story = tellTrace({ findings: [], trace }).split('\n').slice(2, -2);
    expect(story).toEqual([
      'invocation 1     state.load, state.write k1 …',
      'invocation 2     state.load ×2',
      'invocation 1     … state.write k1',
      '                 ⚡ reply-lost: state.write k1',
      'invocation 2     progress.commit …',
      '                 ✗ k1 is gone',
      '                 ✝ before it hears of progress.commit',
      'visit 3          object.read …/s-1/0001-ababab.seg …',
      'X4               ✝ before job.read',
      '                 — put',
      'savepoint.cut 5  job.read …',
    ]);
  });

  it('ends with what was found, and the steps around it', () => {
    expect(tellEnd({ findings: ['k1 is gone'], trace }).split('\n')).toEqual([
      '✗ k1 is gone',
      '  the steps around it:',
      '  │ invocation 1     state.load, state.write k1 …',
      '  │ invocation 2     state.load ×2',
      '  │ invocation 1     … state.write k1',
      '  │                  ⚡ reply-lost: state.write k1',
      '  │ invocation 2     progress.commit …',
      '  │                  ✗ k1 is gone',
      '  │                  ✝ before it hears of progress.commit',
      '  │ visit 3          object.read …/s-1/0001-ababab.seg …',
    ]);
  });

  it('tells the last steps where nobody has seen a finding come', () => {
    const end = tellEnd({ findings: ['end: k1 differs'], trace }).split('\n');
    expect(end.slice(0, 2)).toEqual(['✗ end: k1 differs', '  the last steps:']);
    expect(end.at(-1)).toBe('  │ savepoint.cut 5  job.read …');
  });

  it('says so where nothing was found', () => {
    expect(tellEnd({ findings: [], trace })).toBe('nothing found');
  });
});
