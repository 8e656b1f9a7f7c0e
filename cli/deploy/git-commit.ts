import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The commit that is deployed. */
export interface GitCommit {
  readonly id: string;
  /** There are changes that no commit has. */
  readonly isDirty: boolean;
}

/** Undefined where this is no working copy, or there is no git. */
export async function readGitCommit(): Promise<GitCommit | undefined> {
  const git = promisify(execFile);
  try {
    const { stdout: id } = await git('git', ['rev-parse', 'HEAD']);
    const { stdout: changes } = await git('git', ['status', '--porcelain']);
    return { id: id.trim(), isDirty: changes.trim() !== '' };
  } catch {
    return undefined;
  }
}

export function describeCommit(commit: GitCommit | undefined): string {
  if (commit === undefined) return 'unknown';
  return commit.isDirty ? `${commit.id} and changes that are not committed` : commit.id;
}
