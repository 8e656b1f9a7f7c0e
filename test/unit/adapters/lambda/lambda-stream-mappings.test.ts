import type { EventSourceMappingConfiguration, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { createLambdaStreamMappings } from '../../../../shared/adapters/lambda/lambda-stream-mappings.ts';

const replying = (replies: readonly (EventSourceMappingConfiguration | Error)[]) => {
  const left = [...replies];
  const send = async () => {
    const reply = left.shift()!;
    if (reply instanceof Error) throw reply;
    return reply;
  };
  return createLambdaStreamMappings({
    client: { send } as unknown as LambdaClient,
    mappings: new Map([['delays', 'id']]),
    system: createMemorySystem(),
  });
};

const errorNamed = (name: string): Error => Object.assign(new Error('no'), { name });

describe('the mappings of a job, as Lambda has them', () => {
  it('are what Lambda does where it says nothing', async () => {
    expect(await replying([{}]).read('delays')).toMatchObject({
      parallelizationFactor: 1,
      retriesMax: -1,
      recordAgeSecondsMax: -1,
      hasFilters: false,
      isEnabled: true,
    });
  });

  it.each([
    { FilterCriteria: { Filters: [{ Pattern: '{}' }] } },
    { FilterCriteriaError: { ErrorCode: 'AccessDeniedException' } },
  ])('have filters where they are, and where nobody may see them: %j', async (reply) => {
    expect(await replying([reply]).read('delays')).toMatchObject({ hasFilters: true });
  });

  it.each(['Disabled', 'Disabling', 'Deleting'])('deliver nothing more while %s', async (State) => {
    expect(await replying([{ State }]).read('delays')).toMatchObject({ isEnabled: false });
  });

  it('are asked for again where Lambda is too busy', async () => {
    const mappings = replying([errorNamed('TooManyRequestsException'), { State: 'Enabled' }]);
    expect(await mappings.read('delays')).toMatchObject({ isEnabled: true });
  });

  it('are gone where Lambda knows none', async () => {
    expect(
      await replying([errorNamed('ResourceNotFoundException')]).read('delays'),
    ).toBeUndefined();
  });

  it('are refused where they may not be read, and where none is known', async () => {
    await expect(replying([errorNamed('AccessDeniedException')]).read('delays')).rejects.toThrow(
      'cannot read event source mapping id: AccessDeniedException: no; give the role the right',
    );
    await expect(replying([]).read('routes')).rejects.toThrow(
      'operator routes has no event source mapping here, expected one of: delays',
    );
  });
});
