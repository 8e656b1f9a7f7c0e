import { describe, expect, it } from 'vitest';
import { createTemporaryResources } from '../../../../cli/doctor/temporary-resources.ts';
import { sdkError } from '../../adapters/fake-client.ts';

const impatient = { attemptsMax: 3, pauseMs: 1 };

describe('temporary resources', () => {
  it('are removed once, the youngest first, though one of them cannot be', async () => {
    const temporary = createTemporaryResources(impatient);
    const removed: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      temporary.put(name, () => {
        removed.push(name);
        return name === 'b' ? Promise.reject(sdkError('AccessDenied', 403)) : Promise.resolve();
      });
    }
    expect(await temporary.removeAll()).toEqual(['b: AccessDenied: AccessDenied happened']);
    expect(removed).toEqual(['c', 'b', 'a']);
    expect(await temporary.removeAll()).toEqual([]);
    expect(removed).toHaveLength(3);
  });

  it('are tried again while they are being made, and are gone where there is nothing', async () => {
    const temporary = createTemporaryResources(impatient);
    let tried = 0;
    temporary.put('table', () => {
      tried += 1;
      return Promise.reject(
        sdkError(tried < 3 ? 'ResourceInUseException' : 'ResourceNotFoundException', 400),
      );
    });
    expect(await temporary.removeAll()).toEqual([]);
    expect(tried).toBe(3);
  });

  it('are given up after some tries', async () => {
    const temporary = createTemporaryResources(impatient);
    temporary.put('table', () => Promise.reject(sdkError('ResourceInUseException', 400)));
    expect(await temporary.removeAll()).toHaveLength(1);
  });

  it('have names that no other run has', () => {
    const [one, other] = [createTemporaryResources(), createTemporaryResources()];
    expect(one.name('table')).toMatch(/^holdfast-doctor-[0-9a-f]{8}-table$/);
    expect(one.name('table')).not.toBe(other.name('table'));
  });
});
