import { channelId } from '../../core/channel.ts';
import type { Manifest } from '../../core/manifest.ts';
import { segmentName } from '../object-names.ts';

/** The names of all files that a manifest lists: runs, then segments. */
export function listManifestFiles(
  job: string,
  { runs, channels, generation }: Pick<Manifest, 'runs' | 'channels' | 'generation'>,
): string[] {
  return [
    ...runs.flatMap(({ files }) => files.map(({ name }) => name)),
    ...channels.flatMap(({ channel, segments }) =>
      segments.map((one) => segmentName(job, generation, channelId(channel), one)),
    ),
  ];
}
