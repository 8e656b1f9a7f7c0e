import { expect, it } from 'vitest';
import { copyPlain } from '../../../shared/core/plain-value.ts';

it('refuses a property called __proto__, which an assignment would lose', () => {
  const named = JSON.parse('{"deep": {"__proto__": {"a": 1}}}') as object;
  expect(() => copyPlain(named)).toThrow('row.deep.__proto__');
});
