import type { OperatorContract } from '../../core/manifest.ts';
import type { OperatorCalls } from '../../ports/operator-calls.ts';
import type { JobPorts } from '../job-ports.ts';
import { readJob } from '../restore/hold.ts';

/** What a manifest takes besides the job's stores: its operators, to be asked what they are contracts about. */
export interface CheckpointPorts extends JobPorts {
  readonly calls: OperatorCalls;
}

/** What a manifest says besides the cut. */
export interface ManifestFacts {
  readonly maxParallelism: number;
  readonly operators: readonly OperatorContract[];
  readonly note: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a manifest says of the deployed code, and of what somebody wants to have noted. */
export async function readFacts(
  ports: CheckpointPorts,
  { note, tags }: Pick<ManifestFacts, 'note' | 'tags'> = { note: '', tags: {} },
): Promise<ManifestFacts> {
  const { maxParallelism, operators } = await readJob(ports);
  return { maxParallelism, operators: await describeOperators(ports, operators), note, tags };
}

/** The contracts of the deployed code. */
export function describeOperators(
  { calls }: Pick<CheckpointPorts, 'calls'>,
  operators: readonly string[],
): Promise<OperatorContract[]> {
  return Promise.all(operators.map((operator) => calls.describe(operator)));
}
