import { existsSync } from 'node:fs';
import {
  ConfigurationError,
  type ConfigurationProblem,
  showValue,
} from '../shared/config/configuration-error.ts';
import { checkJob, completeJob, type Job, type JobDescription } from '../shared/config/job.ts';
import { describeJob } from './describe-job.ts';
import { checkEncryption } from './job-key.ts';
import { checkVpc } from './job-network.ts';
import type { OperatorProps, StreamJobProps } from './stream-job-props.ts';

/**
 * The job that the props describe, with every default filled in. `path` is where the construct
 * stands in the app.
 *
 * @throws ConfigurationError with every problem of the props.
 */
export function readJob(path: string, props: StreamJobProps): Job {
  const description = describeJob(props);
  // Who brings a bundler of his own decides what an entry means.
  const missing = props.bundle === undefined ? findMissingEntries(props.operators) : [];
  const problems = [
    ...[...checkJob(description), ...checkEncryption(props.encryption)],
    ...[...checkVpc(props.vpc), ...missing],
  ];
  if (problems.length > 0) throw new ConfigurationError(`[${path}] StreamJob`, problems);
  return completeJob(description as JobDescription);
}

// Apart from `checkJob`, which sees no files. What has no text for an entry is told there.
function findMissingEntries(
  operators: readonly Partial<OperatorProps>[] | undefined,
): ConfigurationProblem[] {
  if (!Array.isArray(operators)) return [];
  return operators.flatMap((operator: Partial<OperatorProps> | null, index) => {
    const entry = operator?.entry;
    if (typeof entry !== 'string' || existsSync(entry)) return [];
    return [
      {
        name: `operators[${index}].entry`,
        got: showValue(entry),
        expected: 'a file that exists',
        remedy: `correct the path; it is relative to ${process.cwd()}`,
      },
    ];
  });
}
