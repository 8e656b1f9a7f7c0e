import { HoldfastError } from '../core/errors.ts';

/*
 * The only file that spells the names of a job's objects. Numbers are padded so that listing gives them in order.
 */

const generationDigits = 8;
const segmentDigits = 12;

function jobPrefix(job: string): string {
  return `jobs/${job}`;
}

/** The marker that a deploy leaves beside the job item (C1). */
export function jobMarkerName(job: string): string {
  return `${jobPrefix(job)}/job.json`;
}

export function channelPrefix(job: string, generation: number, channelId: string): string {
  return `${jobPrefix(job)}/generations/${pad(generation, generationDigits)}/segments/${channelId}`;
}

export function segmentName(
  job: string,
  generation: number,
  channelId: string,
  reference: { readonly number: number; readonly attempt: string },
): string {
  const number = pad(reference.number, segmentDigits);
  return `${channelPrefix(job, generation, channelId)}/${number}-${reference.attempt}.seg`;
}

/** An object of emissions that were too large for their item (P2). */
export function spillName(job: string, generation: number, channelId: string, id: string): string {
  return `${jobPrefix(job)}/generations/${pad(generation, generationDigits)}/emissions/${channelId}/${id}`;
}

function pad(value: number, digits: number): string {
  const text = String(value).padStart(digits, '0');
  if (text.length === digits) return text;
  throw new HoldfastError('internal', `number ${value} has more than ${digits} digits`);
}
