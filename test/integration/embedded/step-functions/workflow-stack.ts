import path from 'node:path';

import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import {
  Choice,
  Condition,
  DefinitionBody,
  Errors,
  Fail,
  JsonPath,
  LogLevel,
  Map,
  Pass,
  StateMachine,
  Succeed,
  TaskInput,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { App, CfnOutput, CfnParameter, Duration, Stack } from 'aws-cdk-lib/core';

import { handlersDirectory } from '../lambda/test-function.ts';

/**
 * Synthesizes a workflow as the product's are made; returns the template's file, which lies below `directory`. Each item is
 * worked on by a function, tried again and given up as its error asks for; then the workflow waits, and decides by the
 * first result. What is not caught is undone. Functions note their attempts in the file that the parameter Ledger names.
 */
export function synthesizeWorkflow(directory: string): string {
  const app = new App({ outdir: path.join(directory, 'cdk.out') });
  const stack = new Stack(app, 'Workflow');
  const ledger = new CfnParameter(stack, 'Ledger').valueAsString;
  const functionOf = (id: string, handler: string): LambdaFunction =>
    new LambdaFunction(stack, id, {
      code: Code.fromAsset(handlersDirectory),
      handler,
      runtime: Runtime.NODEJS_24_X,
      timeout: Duration.minutes(1),
      environment: { LEDGER: ledger },
    });

  const worker = functionOf('Worker', 'steps.handler');
  const work = new LambdaInvoke(stack, 'Work', {
    lambdaFunction: worker,
    payload: TaskInput.fromObject({
      item: JsonPath.objectAt('$.item'),
      run: JsonPath.stringAt('$.run'),
    }),
    resultSelector: { 'value.$': '$.Payload' },
    outputPath: '$.value',
  })
    .addRetry({
      errors: ['NotYet'],
      interval: Duration.seconds(60),
      backoffRate: 2,
      maxAttempts: 3,
      maxDelay: Duration.seconds(90),
    })
    .addRetry({ errors: ['Lambda.Unknown', 'Runtime.ExitError'], maxAttempts: 2 })
    .addCatch(
      new Pass(stack, 'Given up', {
        parameters: { givenUp: JsonPath.stringAt('$.failure.Error') },
      }),
      { errors: ['Refused'], resultPath: '$.failure' },
    );
  const each = new Map(stack, 'Each', {
    maxConcurrency: 2,
    itemsPath: '$.items',
    itemSelector: {
      'item.$': '$$.Map.Item.Value',
      'run.$': "States.Format('{}/{}', $$.Execution.Name, $$.Map.Item.Index)",
    },
    resultPath: '$.results',
  }).itemProcessor(work);
  const undo = new LambdaInvoke(stack, 'Undo', {
    lambdaFunction: functionOf('Undoer', 'steps.undo'),
    payloadResponseOnly: true,
    resultPath: '$.undo',
  }).next(new Fail(stack, 'Undone', { error: 'Undone', causePath: '$.undo.error' }));

  const machine = new StateMachine(stack, 'Machine', {
    definitionBody: DefinitionBody.fromChainable(
      new Pass(stack, 'Prepare', {
        parameters: { 'items.$': '$.items', 'run.$': '$$.Execution.Name' },
      })
        .next(each.addCatch(undo, { errors: [Errors.ALL], resultPath: '$.failure' }))
        .next(new Wait(stack, 'Settle', { time: WaitTime.duration(Duration.minutes(5)) }))
        .next(
          new Choice(stack, 'First done?')
            .when(
              Condition.isPresent('$.results[0].attempts'),
              new Succeed(stack, 'Done', { outputPath: '$.results' }),
            )
            .otherwise(new Fail(stack, 'Nothing done', { error: 'NothingDone' })),
        ),
    ),
    logs: { destination: new LogGroup(stack, 'Log'), level: LogLevel.ALL },
    tracingEnabled: true,
  });
  new CfnOutput(stack, 'MachineArn', { value: machine.stateMachineArn });
  new CfnOutput(stack, 'WorkerName', { value: worker.functionName });
  return app.synth().getStackByName('Workflow').templateFullPath;
}
