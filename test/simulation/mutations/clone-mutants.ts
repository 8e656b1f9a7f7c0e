import type { Mutant } from './mutant.ts';

const copyManifest = 'shared/runtime/restore/copy-manifest.ts';

/** Changes that break the rule of clones. */
export const cloneMutants: readonly Mutant[] = [
  {
    rule: 'R12',
    what: 'what is copied keeps the generation of the other job',
    file: 'shared/runtime/checkpoint/run-compaction.ts',
    find: 'yield isAnew ? { ...entry, generation: copiedGeneration } : entry;',
    replace: 'yield isAnew ? { ...entry } : entry;',
    noticedBy: 'test/unit/runtime/restore/clone.test.ts',
  },
  {
    rule: 'R12',
    what: 'the steps of a merge forget which entry is the newer one',
    file: 'shared/runtime/checkpoint/run-compaction.ts',
    find: 'const isAnew = copiedFrom !== undefined && steps[step]!.isFinal;',
    replace: 'const isAnew = copiedFrom !== undefined && steps.length > 0;',
    noticedBy: 'test/unit/runtime/restore/copied-files.test.ts',
  },
  {
    rule: 'R12',
    what: 'the copy names segments of the other job',
    file: copyManifest,
    find: 'head: undefined,',
    replace: '',
    noticedBy: 'test/unit/runtime/restore/clone.test.ts',
  },
  {
    rule: 'R12',
    what: 'the other job is not told that its files are being read',
    file: copyManifest,
    find: '  await pinCloned(ports, order);\n',
    replace: '',
    also: { find: 'async function pinCloned(', replace: 'export async function pinCloned(' },
    noticedBy: 'test/unit/runtime/restore/clone.test.ts',
  },
  {
    rule: 'R12',
    what: 'a clone leaves its pin behind',
    file: copyManifest,
    find: '  await unpinCloned(ports, order);\n  return copy;\n',
    replace: '  return copy;\n',
    noticedBy: 'test/unit/runtime/restore/two-clones.test.ts',
  },
  {
    rule: 'R12',
    what: 'an aborted clone leaves its job open',
    file: 'shared/runtime/restore/hold.ts',
    find: 'return isFlipped || (isUnborn(job) && before === undefined)',
    replace: 'return isFlipped',
    also: { find: ': { ...job, hold: before };', replace: ': { ...job, hold: undefined };' },
    noticedBy: 'test/unit/runtime/restore/dying-clone.test.ts',
  },
  {
    rule: 'R12',
    what: 'a clone begins in a job that runs',
    file: 'shared/runtime/restore/check-clone.ts',
    find: 'if (made?.restore !== restore) refuseBegun(job, restore);',
    replace: 'if (made?.restore === restore) refuseBegun(job, restore);',
    noticedBy: 'test/unit/runtime/restore/refused-clone.test.ts',
  },
  {
    rule: 'R12',
    what: 'a coordinator takes away the copy that a job is about to begin with',
    file: 'shared/runtime/checkpoint/take-checkpoint.ts',
    find: "const isRunning = status === 'running' && !isUnborn(job);",
    replace: "const isRunning = status === 'running' && job.name !== '';",
    noticedBy: 'test/unit/runtime/restore/refused-clone.test.ts',
  },
];
