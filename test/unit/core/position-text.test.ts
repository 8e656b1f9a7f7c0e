import { describe, expect, it } from 'vitest';
import { parsePosition } from '../../../shared/core/position.ts';

describe('parsePosition', () => {
  it.each(['12.', '12. 5', '12.5 ', '12.+5', '12.-0', '12.05', '12.1e3', '12.0x10', '12.10000000'])(
    'refuses %j: no position is ever written so',
    (text) => {
      expect(() => parsePosition(text)).toThrow(/cannot read position/);
    },
  );
});
