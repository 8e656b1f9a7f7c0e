import { HoldfastError } from '../core/errors.ts';
import type { ManifestKind } from '../core/registry.ts';

/*
 * The only file that spells the names of a job's objects. Numbers are padded so that listing gives them in order.
 *
 *   jobs/<job>/job.json                                                     the marker of a deploy (C1)
 *             /generations/<n8>.json                                        a generation's number, reserved (R4)
 *             /generations/<n8>/segments/<channel>/<n12>-<attempt>.seg      segments
 *             /generations/<n8>/emissions/<channel>/<n12>-<id>              spilled emissions (P2)
 *             /checkpoints/<generation8>/<n12>.json, …/<n12>.done           manifests, with their completion objects (C4)
 *             /undo/<generation8>/<n12>.json, …/<n12>.done
 *             /savepoints/<label>/manifest.json, …/done.json, …/files/<n6>.run
 *             /bases/<n12>.json                                             what segments have been merged into (C6)
 *             /compactions/<n12>/cut.json, …/plan.json, …/<n6>.run
 */

const generationDigits = 8;
const numberDigits = 12;
const fileDigits = 6;

/** Labels of savepoints: 1 to 100 of letters, digits, ".", "_" and "-", a letter or a digit first. */
export const savepointLabelPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Which manifest: those of one kind have a name of their own for each number, savepoints for each label. */
export type ManifestPlace =
  | {
      readonly kind: Exclude<ManifestKind, 'savepoint'>;
      readonly generation: number;
      readonly number: number;
    }
  | { readonly kind: 'savepoint'; readonly label: string };

/** Everything that a job has in S3 begins with this. */
export function jobPrefix(job: string): string {
  return `jobs/${job}/`;
}

/** The marker that a deploy leaves beside the job item (C1). */
export function jobMarkerName(job: string): string {
  return `${jobPrefix(job)}job.json`;
}

/** Reservations begin with this, and so does everything of {@link generationPrefix}. */
export function reservationsPrefix(job: string): string {
  return `${jobPrefix(job)}generations/`;
}

/** The object that reserves a generation's number for ever (R4). */
export function reservationName(job: string, generation: number): string {
  return `${reservationsPrefix(job)}${padGeneration(generation)}.json`;
}

/** Segments and spilled emissions of a generation begin with this; its reservation does not. */
export function generationPrefix(job: string, generation: number): string {
  return `${reservationsPrefix(job)}${padGeneration(generation)}/`;
}

export function channelPrefix(job: string, generation: number, channelId: string): string {
  return `${generationPrefix(job, generation)}segments/${channelId}`;
}

export function segmentName(
  job: string,
  generation: number,
  channelId: string,
  reference: { readonly number: number; readonly attempt: string },
): string {
  const number = pad(reference.number, numberDigits);
  return `${channelPrefix(job, generation, channelId)}/${number}-${reference.attempt}.seg`;
}

/**
 * An object of emissions that were too large for their item (P2).
 *
 * @param spill.number that of the segment of the unit that wrote it: from it garbage collection tells when it is over
 * @param spill.id fresh and random
 */
export function spillName(
  job: string,
  generation: number,
  channelId: string,
  spill: { readonly number: number; readonly id: string },
): string {
  const number = pad(spill.number, numberDigits);
  return `${generationPrefix(job, generation)}emissions/${channelId}/${number}-${spill.id}`;
}

/** The manifests of one kind begin with this. */
export function manifestsPrefix(job: string, kind: ManifestKind): string {
  return `${jobPrefix(job)}${manifestFolders[kind]}/`;
}

export function manifestName(job: string, manifest: ManifestPlace): string {
  if (manifest.kind === 'savepoint') return `${savepointPrefix(job, manifest.label)}manifest.json`;
  return `${numberedManifest(job, manifest)}.json`;
}

/** The object that tells in S3 that a manifest is complete (C4). */
export function completionName(job: string, manifest: ManifestPlace): string {
  if (manifest.kind === 'savepoint') return `${savepointPrefix(job, manifest.label)}done.json`;
  return `${numberedManifest(job, manifest)}.done`;
}

/** Everything of a savepoint begins with this. */
export function savepointPrefix(job: string, label: string): string {
  if (!savepointLabelPattern.test(label)) {
    throw new HoldfastError(
      'invalid',
      `${JSON.stringify(label)} cannot name a savepoint: expected 1 to 100 of letters, digits, ".", "_" and "-", a letter or a digit first; choose another name`,
    );
  }
  return `${manifestsPrefix(job, 'savepoint')}${label}/`;
}

/** @param file counts the files of the savepoint */
export function savepointFileName(job: string, label: string, file: number): string {
  return `${savepointPrefix(job, label)}files/${pad(file, fileDigits)}.run`;
}

export function baseName(job: string, number: number): string {
  return `${jobPrefix(job)}bases/${pad(number, numberDigits)}.json`;
}

/** Everything that a compaction writes but its base begins with this. */
export function compactionPrefix(job: string, number: number): string {
  return `${jobPrefix(job)}compactions/${pad(number, numberDigits)}/`;
}

/** The cut that a savepoint is made of, as it was read: a manifest with segments. */
export function cutName(job: string, number: number): string {
  return `${compactionPrefix(job, number)}cut.json`;
}

export function planName(job: string, number: number): string {
  return `${compactionPrefix(job, number)}plan.json`;
}

/** @param file counts the files of the compaction */
export function runFileName(job: string, number: number, file: number): string {
  return `${compactionPrefix(job, number)}${pad(file, fileDigits)}.run`;
}

/** What an object is, as far as its name tells. `unknown` is what no function here spells: leave it alone. */
export type ObjectIdentity =
  | { readonly kind: 'job-marker' }
  | { readonly kind: 'reservation'; readonly generation: number }
  | {
      readonly kind: 'segment';
      readonly generation: number;
      readonly channelId: string;
      readonly number: number;
      readonly attempt: string;
    }
  | {
      readonly kind: 'spill';
      readonly generation: number;
      readonly channelId: string;
      readonly number: number;
      readonly id: string;
    }
  | { readonly kind: 'manifest' | 'completion'; readonly manifest: ManifestPlace }
  | { readonly kind: 'savepoint-file'; readonly label: string; readonly file: number }
  | { readonly kind: 'base'; readonly number: number }
  | { readonly kind: 'cut' | 'plan'; readonly number: number }
  | { readonly kind: 'run'; readonly number: number; readonly file: number }
  | { readonly kind: 'unknown' };

type Groups = Readonly<Record<string, string>>;

const patterns: readonly (readonly [RegExp, (groups: Groups) => ObjectIdentity])[] = [
  [/^job\.json$/, () => ({ kind: 'job-marker' })],
  [
    /^generations\/(?<generation>\d{8})\.json$/,
    ({ generation }) => ({ kind: 'reservation', generation: Number(generation) }),
  ],
  [
    /^generations\/(?<generation>\d{8})\/segments\/(?<channelId>.+)\/(?<number>\d{12})-(?<attempt>[^/]+)\.seg$/,
    ({ generation, channelId, number, attempt }) => ({
      kind: 'segment',
      generation: Number(generation),
      channelId: channelId!,
      number: Number(number),
      attempt: attempt!,
    }),
  ],
  [
    /^generations\/(?<generation>\d{8})\/emissions\/(?<channelId>.+)\/(?<number>\d{12})-(?<id>[^/]+)$/,
    ({ generation, channelId, number, id }) => ({
      kind: 'spill',
      generation: Number(generation),
      channelId: channelId!,
      number: Number(number),
      id: id!,
    }),
  ],
  [
    /^(?<folder>checkpoints|undo)\/(?<generation>\d{8})\/(?<number>\d{12})\.(?<suffix>json|done)$/,
    ({ folder, generation, number, suffix }) => ({
      kind: suffix === 'json' ? 'manifest' : 'completion',
      manifest: {
        kind: folder === 'undo' ? 'undo' : 'checkpoint',
        generation: Number(generation),
        number: Number(number),
      },
    }),
  ],
  [
    /^savepoints\/(?<label>[A-Za-z0-9][A-Za-z0-9._-]{0,99})\/(?<file>manifest|done)\.json$/,
    ({ label, file }) => ({
      kind: file === 'manifest' ? 'manifest' : 'completion',
      manifest: { kind: 'savepoint', label: label! },
    }),
  ],
  [
    /^savepoints\/(?<label>[A-Za-z0-9][A-Za-z0-9._-]{0,99})\/files\/(?<file>\d{6})\.run$/,
    ({ label, file }) => ({ kind: 'savepoint-file', label: label!, file: Number(file) }),
  ],
  [/^bases\/(?<number>\d{12})\.json$/, ({ number }) => ({ kind: 'base', number: Number(number) })],
  [
    /^compactions\/(?<number>\d{12})\/(?<what>cut|plan)\.json$/,
    ({ number, what }) => ({ kind: what === 'cut' ? 'cut' : 'plan', number: Number(number) }),
  ],
  [
    /^compactions\/(?<number>\d{12})\/(?<file>\d{6})\.run$/,
    ({ number, file }) => ({ kind: 'run', number: Number(number), file: Number(file) }),
  ],
];

/** Tells what an object of a job is. The functions above spell its name again from what this returns. */
export function parseObjectName(job: string, name: string): ObjectIdentity {
  const prefix = jobPrefix(job);
  if (!name.startsWith(prefix)) return { kind: 'unknown' };
  const rest = name.slice(prefix.length);
  for (const [pattern, identify] of patterns) {
    const groups = pattern.exec(rest);
    if (groups !== null) return identify(groups.groups ?? {});
  }
  return { kind: 'unknown' };
}

const manifestFolders: Readonly<Record<ManifestKind, string>> = {
  checkpoint: 'checkpoints',
  savepoint: 'savepoints',
  undo: 'undo',
};

function numberedManifest(
  job: string,
  { kind, generation, number }: Exclude<ManifestPlace, { kind: 'savepoint' }>,
): string {
  return `${manifestsPrefix(job, kind)}${padGeneration(generation)}/${pad(number, numberDigits)}`;
}

function padGeneration(generation: number): string {
  return pad(generation, generationDigits);
}

function pad(value: number, digits: number): string {
  const text = String(value).padStart(digits, '0');
  if (Number.isSafeInteger(value) && value >= 0 && text.length === digits) return text;
  throw new HoldfastError(
    'internal',
    `number ${value} cannot be part of an object's name: expected a whole number of at most ${digits} digits`,
  );
}
