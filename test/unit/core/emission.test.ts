import { describe, expect, it } from 'vitest';
import {
  compareEmissions,
  deadLetterSink,
  emissionId,
  emissionOrder,
  emissionsPast,
  emissionsUpTo,
  findOversized,
  packEmissions,
  rowBytesMax,
  unpackEmissions,
  type Emission,
} from '../../../shared/core/emission.ts';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import { pack } from '../../../shared/core/pack.ts';

const emit = (sequence: string, index = 0, overrides: Partial<Emission> = {}): Emission => ({
  position: { sequence, sub: 0 },
  index,
  sink: 'alerts',
  row: '',
  value: { id: sequence },
  ...overrides,
});

const list = [emit('9'), emit('10', 0), emit('10', 1), emit('11')];
const cut = { sequence: '10', sub: 0 };

describe('emissionId', () => {
  it('is made of operator, origin, position, key hash, step and index', () => {
    const emission = emit('4959', 2, { position: { sequence: '4959', sub: 7 } });
    expect(emissionId('counts', 'events@5', 'abcd', emission)).toBe(
      'counts#events@5#4959#7#abcd#r#2',
    );
  });

  it('does not depend on what is emitted', () => {
    const id = emissionId('o', 's@1', 'h', emit('1'));
    expect(emissionId('o', 's@1', 'h', emit('1', 0, { value: 'else', row: 'r' }))).toBe(id);
  });

  it.each<[string, Emission]>([
    ['sequence number', emit('2')],
    ['sub-sequence number', emit('1', 0, { position: { sequence: '1', sub: 1 } })],
    ['index', emit('1', 1)],
  ])('differs by %s', (_, other) => {
    expect(emissionId('o', 's@1', 'h', other)).not.toBe(emissionId('o', 's@1', 'h', emit('1')));
  });
});

describe('emissionsPast', () => {
  it('gives all of them past the start of a channel', () => {
    expect(emissionsPast(list, undefined)).toBe(list);
  });

  it('leaves out every emission of the record at the cut', () => {
    expect(emissionsPast(list, cut)).toEqual([emit('11')]);
  });

  it('gives none past the last', () => {
    expect(emissionsPast(list, { sequence: '11', sub: 0 })).toEqual([]);
  });

  it('gives all past a cut before the first', () => {
    expect(emissionsPast(list, { sequence: '8', sub: 5 })).toBe(list);
  });
});

describe('emissionsUpTo', () => {
  it('takes in every emission of the record at the cut', () => {
    expect(emissionsUpTo(list, cut)).toEqual([emit('9'), emit('10', 0), emit('10', 1)]);
  });

  it('gives none up to a cut before the first and all up to one past the last', () => {
    expect(emissionsUpTo(list, { sequence: '8', sub: 0 })).toEqual([]);
    expect(emissionsUpTo(list, { sequence: '12', sub: 0 })).toBe(list);
  });

  it('is the other half of emissionsPast at every cut', () => {
    for (const sequence of ['8', '9', '10', '11', '12']) {
      const at = { sequence, sub: 0 };
      expect([...emissionsUpTo(list, at), ...emissionsPast(list, at)]).toEqual(list);
    }
  });
});

describe('the order of emissions', () => {
  it('is that of positions, then of the index', () => {
    const shuffled = [list[3]!, list[1]!, list[2]!, list[0]!];
    expect([...shuffled].sort(compareEmissions)).toEqual(list);
  });

  it('is the same as text', () => {
    const texts = [...list, emit('11', 10), emit('11', 9)].map(emissionOrder).sort();
    expect(texts).toEqual([...list, emit('11', 9), emit('11', 10)].map(emissionOrder));
  });
});

describe('packEmissions and unpackEmissions', () => {
  it('give emissions back as they were', () => {
    const emissions = [
      emit('1', 0, { value: { text: 'ä', list: [1, 2.5, null], at: new Date(5) } }),
      emit('2', 3, { sink: 'view', row: 'row-1', value: null }),
      emit('2', 4, {
        position: { sequence: '2', sub: 9 },
        value: { data: new Uint8Array([0, 255]) },
      }),
    ];
    expect(unpackEmissions(packEmissions(emissions))).toEqual(emissions);
  });

  it('give an empty list back', () => {
    expect(unpackEmissions(packEmissions([]))).toEqual([]);
  });

  it('refuse bytes that are no list', () => {
    expect(() => unpackEmissions(pack({ position: '1.0' }))).toThrow(
      /cannot read emissions: expected a list, got object/,
    );
  });

  it('refuse an emission without a position', () => {
    const read = (): unknown => unpackEmissions(pack([['', 0, 'alerts', '', null]]));
    expect(read).toThrow(/cannot read position ""/);
    try {
      read();
    } catch (error) {
      expect(isHoldfastError(error, 'corrupt')).toBe(true);
    }
  });
});

describe('findOversized', () => {
  const sized = (characters: number, sink = 'alerts'): Emission =>
    emit('1', 0, { sink, value: 'x'.repeat(characters) });

  it('finds the output whose row no table can hold', () => {
    const large = sized(rowBytesMax);
    expect(findOversized([sized(10), large, sized(10)])).toBe(large);
  });

  it('finds none where each fits, however large they are together', () => {
    expect(
      findOversized(Array.from({ length: 10 }, () => sized(rowBytesMax - 10))),
    ).toBeUndefined();
  });

  it('takes a dead letter of any size', () => {
    expect(findOversized([sized(rowBytesMax, deadLetterSink)])).toBeUndefined();
  });
});
