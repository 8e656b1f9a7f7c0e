import { readdirSync, readFileSync } from 'node:fs';

/** All processes that a process has started, and theirs, in any depth. Needs /proc. */
export function listDescendants(pid: number): number[] {
  const children = listChildren(pid);
  return [...children, ...children.flatMap(listDescendants)];
}

function listChildren(pid: number): number[] {
  try {
    // Each thread has its own.
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    // It has ended meanwhile.
    return [];
  }
}
