import { describe, expect, it } from 'vitest';
import { createMemorySystem } from '../../../shared/adapters/memory/memory-system.ts';
import { deadlineAt, hasTimeFor } from '../../../shared/runtime/deadline.ts';

describe('a deadline', () => {
  it('comes nearer with the clock of the system', () => {
    const system = createMemorySystem();
    const deadline = deadlineAt(system, system.now() + 5000);
    expect(deadline.remainingMs()).toBe(5000);
    system.advance(6000);
    expect(deadline.remainingMs()).toBe(-1000);
  });

  it('has time for a unit while more than the reserve is left', () => {
    const remaining = (ms: number) => ({ remainingMs: () => ms });
    expect(hasTimeFor(remaining(2001), 2000)).toBe(true);
    expect(hasTimeFor(remaining(2000), 2000)).toBe(false);
    expect(hasTimeFor(remaining(-1), 0)).toBe(false);
  });
});
