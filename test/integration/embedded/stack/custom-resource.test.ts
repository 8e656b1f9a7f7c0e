import { describe, expect, it, onTestFinished } from 'vitest';

import { customResource } from '../../../../localstack/embedded/resources/custom-resource.ts';
import type { StackServices } from '../../../../localstack/embedded/resources/resource-kind.ts';
import type { ResourceReference } from '../../../../localstack/embedded/template/intrinsics.ts';
import { PropertyReader } from '../../../../localstack/embedded/template/property-reader.ts';
import type { TemplateObject } from '../../../../localstack/embedded/template/template-value.ts';
import { createTestFunction } from '../lambda/test-function.ts';

const place = { stackName: 'Fixture', region: 'r', accountId: 'a', stackId: 'arn:stack' };

async function create(
  properties: TemplateObject,
): Promise<{ reference: ResourceReference; invocations: number }> {
  const maker = createTestFunction('custom-resource.handler');
  onTestFinished(() => maker.stop());
  const values = { ServiceToken: maker.arn, ...properties };
  const reference = await customResource.create(
    {
      logicalId: 'Job',
      type: 'Custom::Job',
      properties: new PropertyReader('Custom::Job Job', values),
    },
    // It needs no more of the stack than this.
    { place, functions: new Map([['Maker', maker]]) } as unknown as StackServices,
  );
  return { reference, invocations: maker.stats().invocations };
}

describe('a custom resource', () => {
  it('is what its function answers', async () => {
    const { reference } = await create({ Name: 'moon' });
    expect(reference).toMatchObject({
      physicalId: 'thing-1',
      attributes: { Greeting: 'hello moon' },
    });
  });

  it('is asked for with a Create event whose values are texts', async () => {
    const { reference } = await create({ Count: 3, Deep: { On: true, List: [1, 'a'] } });
    const seen = JSON.parse(reference.attributes['Seen'] as string) as unknown;
    expect(seen).toEqual({
      RequestType: 'Create',
      ServiceToken: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
      StackId: 'arn:stack',
      RequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      LogicalResourceId: 'Job',
      ResourceType: 'Custom::Job',
      ResourceProperties: {
        ServiceToken: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
        Count: '3',
        Deep: { On: 'true', List: ['1', 'a'] },
      },
    });
  });

  it('fails with the reason of its function', async () => {
    await expect(create({ Answer: 'failed' })).rejects.toThrow(
      'Custom::Job Job was not created: its function answered FAILED: the moon is full',
    );
  });

  it('fails with what the function printed when it fails three times without an answer', async () => {
    await expect(create({ Answer: 'throw' })).rejects.toThrow(
      /tested failed and gave no answer: Error: creation is not possible\n(.*\n)*.*Invoke Error/,
    );
  });

  it('fails when its function ends well and never answers', async () => {
    await expect(create({ Answer: 'silence', ServiceTimeout: 1 })).rejects.toThrow(
      'tested gave no answer within 1 s; it must PUT one to event.ResponseURL',
    );
  });

  it('needs a physical id', async () => {
    await expect(create({ Answer: 'no-id' })).rejects.toThrow(
      'its answer has the PhysicalResourceId undefined, expected a text',
    );
  });

  it('refuses an answer that is longer than CloudFormation takes', async () => {
    await expect(create({ Answer: 'long' })).rejects.toThrow(/bytes, at most 4096 are allowed/);
  });

  it('names the functions that there are when its own is not one of them', async () => {
    await expect(create({ ServiceToken: 'arn:other' })).rejects.toThrow(
      'there is no function "arn:other"; known: Maker',
    );
  });
});
