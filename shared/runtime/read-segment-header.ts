import { HoldfastError } from '../core/errors.ts';
import { decodeSegmentHeader, segmentHeadBytes, type SegmentHeader } from '../core/segment.ts';
import type { ObjectStore } from '../ports/object-store.ts';

/** A header with a full chain and some ahead keys fits; where it does not, the whole object is read. */
const headerBytesGuess = 16 * 1024;

/** Reads the header of a committed segment. */
export async function readSegmentHeader(
  objects: ObjectStore,
  name: string,
): Promise<SegmentHeader> {
  const header = await findSegmentHeader(objects, name);
  if (header === undefined) throw missing(name);
  return header;
}

/** Reads the header of a segment; undefined where there is none of this name. */
export async function findSegmentHeader(
  objects: ObjectStore,
  name: string,
): Promise<SegmentHeader | undefined> {
  const start = await objects.readStart(name, headerBytesGuess);
  if (start === undefined) return undefined;
  if (segmentHeadBytes(start) <= start.length) return decodeSegmentHeader(start, name);
  const whole = await objects.read(name);
  return whole === undefined ? undefined : decodeSegmentHeader(whole, name);
}

function missing(name: string): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `segment ${name} was committed, but is not in the bucket; nothing of Holdfast deletes it, restore from a checkpoint`,
  );
}
