import type { InspectedCopies } from '../../shared/composition/aws/inspect-copies.ts';
import type { WorkflowClient } from '../workflow/workflow-client.ts';

export const fromBackupFlag = [
  '--from-backup',
  "read from the job's backup what is missing or damaged in its bucket",
] as const;

/** Where the sound copies are of what a manifest needs; each is read whole. */
export async function inspectBackup(
  client: WorkflowClient,
  from: string,
  areTablesLost: boolean,
): Promise<InspectedCopies> {
  const none = { objects: 0, examples: [] };
  let copies: InspectedCopies = {
    ...{ isDone: false, next: 0, objects: 0, rounds: 0 },
    ...{ fellBack: none, lost: none },
  };
  // Each call comes some objects further.
  while (!copies.isDone) {
    const ask = { from, areTablesLost, fromBackup: true, copies };
    copies = await client.ask<InspectedCopies>('copies.inspect', ask);
  }
  return copies;
}

/** Some names, each on a line of its own. */
export function listObjects({ objects, examples }: InspectedCopies['lost']): string[] {
  const more = objects - examples.length;
  return more === 0 ? [...examples] : [...examples, `and ${more} more`];
}
