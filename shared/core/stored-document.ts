import { describeThrown, HoldfastError } from './errors.ts';
import { crc32c } from './crc32c.ts';
import { compareTexts } from './position.ts';

/*
 * Documents that are stored as JSON, for programs and people alike:
 *
 *   { "format": "holdfast-manifest", "version": 1, "crc32c": "0a1b2c3d", "body": { … } }
 *
 * The checksum is the CRC-32C, in hex, of the body as compact JSON in UTF-8 with its fields in the order of the file: white
 * space does not count, so that the file may be laid out for reading.
 */

/** One kind of document. */
export interface DocumentFormat<Body> {
  /** What people call it. */
  readonly what: string;
  /** What the file calls it. */
  readonly format: string;
  readonly version: number;
  /** What to do where it is damaged. */
  readonly remedy: string;
  /** The body, or what is wrong with it. */
  readonly read: (body: unknown) => { readonly body: Body } | { readonly problem: string };
}

/**
 * Writes a document. The same body gives the same bytes.
 *
 * @throws HoldfastError `invalid` where the body could not be read back
 */
export function encodeDocument<Body>(format: DocumentFormat<Body>, body: object): Uint8Array {
  const read = format.read(body);
  if ('problem' in read) {
    throw new HoldfastError('invalid', `cannot write a ${format.what}: ${read.problem}`);
  }
  const fields = {
    format: format.format,
    version: format.version,
    crc32c: checksumOf(body),
    body,
  };
  return new TextEncoder().encode(layOutFields(fields, ''));
}

/**
 * Reads a document and checks everything.
 *
 * @throws HoldfastError `corrupt` where it is not what was written, `invalid` where it is newer than this code
 */
export function decodeDocument<Body>(
  format: DocumentFormat<Body>,
  bytes: Uint8Array,
  name: string,
): Body {
  const file = parseFile(format, bytes, name);
  if (file.format !== format.format) {
    throw corruptDocument(
      format,
      name,
      `its format is ${JSON.stringify(file.format)}, expected "${format.format}"`,
    );
  }
  const { version } = file;
  if (typeof version === 'number' && version > format.version) {
    throw new HoldfastError(
      'invalid',
      `${format.what} ${name} has format version ${version}, this code reads up to ${format.version}; deploy code that reads it`,
    );
  }
  if (version !== format.version) {
    throw corruptDocument(format, name, `its version is ${JSON.stringify(version)}`);
  }
  if (Object.keys(file).sort(compareTexts).join() !== 'body,crc32c,format,version') {
    throw corruptDocument(format, name, `it has the fields ${Object.keys(file).join(', ')}`);
  }
  if (file.crc32c !== checksumOf(file.body)) {
    throw corruptDocument(format, name, 'its body does not have its checksum');
  }
  const read = format.read(file.body);
  if ('problem' in read) throw corruptDocument(format, name, read.problem);
  return read.body;
}

function parseFile<Body>(
  format: DocumentFormat<Body>,
  bytes: Uint8Array,
  name: string,
): Readonly<Record<string, unknown>> {
  let file: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    file = JSON.parse(text);
  } catch (error) {
    throw corruptDocument(format, name, `it is no JSON (${describeThrown(error)})`, error);
  }
  if (typeof file !== 'object' || file === null) {
    throw corruptDocument(format, name, 'it is no JSON object');
  }
  return file as Readonly<Record<string, unknown>>;
}

function corruptDocument<Body>(
  format: DocumentFormat<Body>,
  name: string,
  why: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `${format.what} ${name} is damaged: ${why}; ${format.remedy}`,
    cause === undefined ? undefined : { cause },
  );
}

function checksumOf(body: unknown): string {
  const text = JSON.stringify(body) as string | undefined;
  return crc32c(new TextEncoder().encode(text)).toString(16).padStart(8, '0');
}

const indent = '  ';

/** One line for each field of file and body, and for each element of their lists. */
function layOut(value: unknown, margin: string): string {
  if (!isListOfParts(value)) return JSON.stringify(value);
  const inner = margin + indent;
  return `[\n${value.map((part) => inner + layOut(part, inner)).join(',\n')}\n${margin}]`;
}

function layOutFields(fields: object, margin: string): string {
  const inner = margin + indent;
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = name === 'body' ? layOutFields(value as object, inner) : layOut(value, inner);
      return `${inner}${JSON.stringify(name)}: ${text}`;
    });
  return `{\n${lines.join(',\n')}\n${margin}}`;
}

function isListOfParts(value: unknown): value is readonly object[] {
  return Array.isArray(value) && typeof value[0] === 'object';
}
