import { fileURLToPath } from 'node:url';

import { createChaos, type ChaosSettings } from '../../../../localstack/embedded/chaos.ts';
import type { FunctionSettings } from '../../../../localstack/embedded/lambda/function-settings.ts';
import {
  createLambdaFunction,
  type LambdaFunction,
} from '../../../../localstack/embedded/lambda/lambda-function.ts';
import { seededRandom } from '../../../../localstack/embedded/seeded-random.ts';

export const handlersDirectory = fileURLToPath(new URL('../handlers', import.meta.url));

export interface TestFunctionOptions {
  readonly settings?: Partial<FunctionSettings>;
  readonly chaos?: ChaosSettings;
  readonly log?: (line: string) => void;
}

/** A function over one of the handlers of this folder, outside of any stack. */
export function createTestFunction(
  handler: string,
  { settings, chaos, log }: TestFunctionOptions = {},
): LambdaFunction {
  return createLambdaFunction(
    'Tested',
    {
      functionName: 'tested',
      functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
      roleArn: 'arn:aws:iam::000000000000:role/tested',
      runtime: 'nodejs24.x',
      handler,
      codeDirectory: handlersDirectory,
      memoryMb: 128,
      timeoutMs: 60_000,
      concurrencyMax: 10,
      variables: {},
      ...settings,
    },
    {
      region: 'us-east-1',
      endpoints: {
        kinesis: 'http://127.0.0.1:1',
        dynamodb: 'http://127.0.0.1:2',
        s3: 'http://127.0.0.1:3',
        lambda: 'http://127.0.0.1:4',
        stepFunctions: 'http://127.0.0.1:5',
      },
      random: seededRandom(1),
      chaos: createChaos(chaos),
      log: log ?? (() => undefined),
    },
  );
}
