import { ConfigurationError, showValue } from '../shared/config/configuration-error.ts';
import { isBackupPrefix, type BackupLocation } from '../shared/config/backup-location.ts';
import { DISCARDED_BATCHES_PATTERN, jobObjectsPattern } from './permissions.ts';
import type { ResourceArns } from './policy-statements.ts';
import type { BackupBucket, BackupProps } from './stream-job-props.ts';

/** Where second copies go, and what has to be granted for it. */
export interface Backup {
  readonly location: BackupLocation;
  readonly arns: ResourceArns;
}

/**
 * Finds the place of second copies: another bucket, or a prefix of the job's own.
 *
 * @throws ConfigurationError where the copies would lie where the originals do
 */
export function placeBackup(
  path: string,
  props: BackupProps | undefined,
  own: { readonly jobName: string; readonly bucket: BackupBucket },
): Backup | undefined {
  if (props === undefined) return undefined;
  const given = props.prefix ?? '';
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`;
  refusePrefix(path, prefix, props);
  const bucket = props.bucket ?? own.bucket;
  return {
    location: { bucket: bucket.bucketName, prefix },
    arns: {
      backup: [bucket.bucketArn],
      'backup-objects': [bucket.arnForObjects(prefix + jobObjectsPattern(own.jobName))],
    },
  };
}

function refusePrefix(path: string, prefix: string, { bucket, prefix: given }: BackupProps): void {
  const isOwn = bucket === undefined;
  const [discarded] = DISCARDED_BATCHES_PATTERN.split('/');
  const isTaken = isOwn && ['', 'jobs', discarded].includes(prefix.split('/')[0]);
  if (isBackupPrefix(prefix) && !isTaken) return;
  throw new ConfigurationError(`[${path}] StreamJob`, [
    {
      name: 'checkpointing.backup.prefix',
      got: showValue(given),
      expected: `folders of letters, digits and "-_.", at most 200 characters${isOwn ? `, in the job's own bucket neither none nor in jobs/ or ${discarded}/, where the originals and discarded batches are` : ''}`,
      remedy: isOwn ? "choose one as 'backup/', or give another bucket" : "choose one as 'backup/'",
    },
  ]);
}
