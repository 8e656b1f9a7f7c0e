import { InvokeCommand } from '@aws-sdk/client-lambda';
import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import { expect, it, onTestFinished } from 'vitest';

import { startEmbeddedAws } from '../../../../localstack/embedded/embedded-aws.ts';
import { createServiceClients } from '../../../../localstack/embedded/service-clients.ts';
import type { TemplateObject } from '../../../../localstack/embedded/template/template-value.ts';
import { functionOf, role, startStack, writeStack } from '../stack/fixture-stack.ts';

const roleArn = { 'Fn::GetAtt': ['Role', 'Arn'] };

function stackOf(properties: TemplateObject): TemplateObject {
  return {
    // Before what it refers to: the order follows from the definition.
    Machine: {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: { RoleArn: roleArn, ...properties },
    },
    Role: role,
    Echo: functionOf('echo.handler'),
  };
}

it('is created with its references and substitutions filled in', async () => {
  const aws = await startStack(
    writeStack(
      stackOf({
        StateMachineName: 'waiting',
        DefinitionString: {
          'Fn::Join': [
            '',
            [
              '{"StartAt":"Echo","States":{"Echo":{"Type":"Task","Resource":"',
              { 'Fn::GetAtt': ['Echo', 'Arn'] },
              '","Parameters":{"a":"${Greeting}","b":"${Unknown}"},"End":true}}}',
            ],
          ],
        },
        DefinitionSubstitutions: { Greeting: { 'Fn::Sub': 'hello ${AWS::Region}' } },
        LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: true, Destinations: [] },
        TracingConfiguration: { Enabled: true },
      }),
      {
        Ref: { Value: { Ref: 'Machine' } },
        Arn: { Value: { 'Fn::GetAtt': ['Machine', 'Arn'] } },
        Name: { Value: { 'Fn::GetAtt': ['Machine', 'Name'] } },
      },
    ),
  );
  const arn = 'arn:aws:states:us-east-1:000000000000:stateMachine:waiting';
  expect(aws.outputs).toEqual({ Ref: arn, Arn: arn, Name: 'waiting' });
  const clients = createServiceClients(aws.endpoints, aws.region);
  onTestFinished(() => clients.destroy());
  const machine = await clients.stepFunctions.send(
    new DescribeStateMachineCommand({ stateMachineArn: arn }),
  );
  expect(machine.roleArn).toBe(aws.resources.get('Role')?.attributes['Arn']);
  expect(JSON.parse(machine.definition ?? '')).toEqual({
    StartAt: 'Echo',
    States: {
      Echo: {
        Type: 'Task',
        Resource: aws.functions.get('Echo').arn,
        Parameters: { a: 'hello us-east-1', b: '${Unknown}' },
        End: true,
      },
    },
  });
  const reply = await clients.lambda.send(
    new InvokeCommand({ FunctionName: aws.physicalId('Echo'), Payload: '{"a":1}' }),
  );
  expect(JSON.parse(reply.Payload?.transformToString() ?? '')).toMatchObject({ event: { a: 1 } });
});

it.for([
  [
    { DefinitionString: '{"StartAt":"A","States":{"A":{"Type":"Activity","End":true}}}' },
    'AWS::StepFunctions::StateMachine Machine: state "A": states of type "Activity" are not supported locally',
  ],
  [
    { DefinitionString: '{}', StateMachineType: 'EXPRESS' },
    'property "StateMachineType" is "EXPRESS", expected STANDARD',
  ],
  [
    { DefinitionS3Location: { Bucket: 'b', Key: 'k' } },
    'property "DefinitionS3Location" is not supported locally',
  ],
] as const)('is refused as %j', async ([properties, expected]) => {
  await expect(startEmbeddedAws({ templateFile: writeStack(stackOf(properties)) })).rejects.toThrow(
    expected,
  );
});

it('is refused with a speed at which it would wait for ever', async () => {
  await expect(
    startEmbeddedAws({ templateFile: writeStack({}), stateMachineSpeed: 0 }),
  ).rejects.toThrow('state machines have the speed 0, expected a number above 0');
});
