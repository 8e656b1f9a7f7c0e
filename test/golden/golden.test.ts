import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeStateItem } from '../../shared/adapters/dynamodb/state-item.ts';
import { packEmissions, unpackEmissions } from '../../shared/core/emission.ts';
import {
  decodeBase,
  decodeManifest,
  encodeBase,
  encodeManifest,
} from '../../shared/core/manifest-codec.ts';
import { decompressZstd } from '../../shared/core/platform.ts';
import { decodeRunFile, encodeRunFile, openSortedFile } from '../../shared/core/run-file.ts';
import {
  decodeSegment,
  decodeSegmentHeader,
  encodeSegment,
  segmentHeadBytes,
} from '../../shared/core/segment.ts';
import { decodeStates, encodeStates } from '../../shared/operator/key-state.ts';
import { encodeStateItems, goldenFiles, goldenOperator, goldenUrl } from './golden-files.ts';
import * as recovery1 from './recovery-point-1.ts';
import { readItems } from './state-item-text.ts';
import * as version1 from './version-1.ts';

/*
 * Bytes that were written once and have to be read for ever. A test of this file that fails means that stored data of a
 * deployed job cannot be read any more: change the code, never the file.
 */

const readGolden = (name: string): Uint8Array => new Uint8Array(readFileSync(goldenUrl(name)));

describe('a segment of format version 1', () => {
  it('is read as it was meant', () => {
    expect(decodeSegment(readGolden('segment-v1.seg'), 'golden')).toEqual(version1.segment);
    expect(decodeSegment(readGolden('segment-empty-v1.seg'), 'golden')).toEqual(
      version1.emptySegment,
    );
  });

  it('begins with magic, version, header length and header checksum', () => {
    const bytes = readGolden('segment-v1.seg');
    expect([...bytes.subarray(0, 8)]).toEqual([0x48, 0x46, 0x53, 0x47, 0, 1, 0, 0]);
    expect(decodeSegmentHeader(bytes.subarray(0, segmentHeadBytes(bytes)), 'golden')).toEqual(
      version1.segment.header,
    );
  });

  it('is still written to the same bytes where it has no items: no zstd, whose output may change', () => {
    const bytes = readGolden('segment-empty-v1.seg');
    expect(encodeSegment(version1.emptySegment)).toEqual(bytes);
  });
});

describe('a run file of format version 1', () => {
  const golden = readGolden('run-file-v1.run');
  const rawBlocks = (file: Uint8Array): Uint8Array[] =>
    openSortedFile(file, 'golden').blocks.map(({ offset, bytes, rawBytes }) =>
      decompressZstd(file.subarray(offset, offset + bytes), rawBytes),
    );

  it('is read as it was meant', () => {
    expect(decodeRunFile(golden, 'golden')).toEqual({
      header: recovery1.runFileHeader,
      entries: recovery1.runEntries,
    });
  });

  it('begins with magic and version', () => {
    expect([...golden.subarray(0, 8)]).toEqual([0x48, 0x46, 0x52, 0x4e, 0, 1, 0, 0]);
  });

  it('is still written to the same bytes, compared before zstd, whose output may change', () => {
    const { bytes } = encodeRunFile(recovery1.runFileHeader, recovery1.runEntries);
    expect(rawBlocks(bytes)).toEqual(rawBlocks(golden));
  });
});

describe('a manifest and a base of format version 1', () => {
  const demo = { job: 'demo' };

  it('are read as they were meant', () => {
    expect(decodeManifest(readGolden('manifest-v1.json'), 'golden', demo)).toStrictEqual(
      recovery1.manifest,
    );
    expect(decodeBase(readGolden('base-v1.json'), 'golden', demo)).toStrictEqual(recovery1.base);
  });

  it('are still written to the same bytes', () => {
    expect(encodeManifest(recovery1.manifest)).toEqual(readGolden('manifest-v1.json'));
    expect(encodeBase(recovery1.base)).toEqual(readGolden('base-v1.json'));
  });
});

describe('the packed states of a key in their first format', () => {
  it('are read as they were meant', () => {
    const operator = goldenOperator();
    expect(decodeStates(operator, readGolden('states-v1.msgpack'), 'SEA')).toEqual(
      version1.liveStates,
    );
  });

  it('are still written to the same bytes', () => {
    expect(encodeStates(goldenOperator(), version1.liveStates)).toEqual(
      Buffer.from(readGolden('states-v1.msgpack')),
    );
  });
});

describe('packed emissions in their first format', () => {
  it('are read as they were meant', () => {
    expect(unpackEmissions(readGolden('emissions-v1.msgpack'))).toEqual(version1.emissions);
  });

  it('are still written to the same bytes', () => {
    expect(packEmissions(version1.emissions)).toEqual(
      Buffer.from(readGolden('emissions-v1.msgpack')),
    );
  });
});

describe('state items in their first format', () => {
  const text = new TextDecoder().decode(readGolden('state-items-v1.json'));

  it('are read as they were meant', () => {
    expect(readItems(text).map(decodeStateItem)).toEqual(version1.items);
  });

  it('are still written to the same attributes', () => {
    expect(encodeStateItems()).toBe(text);
  });
});

describe('golden files', () => {
  it('are all there, and none that nobody reads', () => {
    const files = readdirSync(goldenUrl('.')).filter((name) => !name.endsWith('.ts'));
    expect(files.toSorted()).toEqual(Object.keys(goldenFiles).toSorted());
  });
});
