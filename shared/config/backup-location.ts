/** Where the second copies of a job go; both parts may be CDK tokens when they are written. */
export interface BackupLocation {
  readonly bucket: string;
  /** Begins all names there; empty, or ends with `/`. */
  readonly prefix: string;
}

export const BACKUP_RULE =
  's3://<bucket>/<prefix>, the prefix empty or with "/" at its end, as s3://copies/holdfast/';

const pattern = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(?<prefix>.*)$/;

export function readBackupLocation(text: string): BackupLocation | undefined {
  const { bucket, prefix } = pattern.exec(text)?.groups ?? {};
  if (bucket === undefined || prefix === undefined || !isBackupPrefix(prefix)) return undefined;
  return { bucket, prefix };
}

/** The pair of `readBackupLocation`. */
export function writeBackupLocation({ bucket, prefix }: BackupLocation): string {
  return `s3://${bucket}/${prefix}`;
}

/** Folders of letters, digits and what S3 calls safe, each ended by `/`, at most 200 characters; or nothing. */
export function isBackupPrefix(text: string): boolean {
  return text.length <= 200 && /^([A-Za-z0-9!_.*'()-]+\/)*$/.test(text);
}
