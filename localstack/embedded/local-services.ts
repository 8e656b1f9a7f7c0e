import { startDynamoDb } from './emulators/dynamodb.ts';
import type { Emulator } from './emulators/emulator.ts';
import { startKinesis } from './emulators/kinesis.ts';
import { startS3 } from './emulators/s3.ts';
import { openFixedPort, type FixedPort } from './fixed-port.ts';
import type { ServiceEndpoints } from './lambda/environment-variables.ts';
import { startLambdaServer, type LambdaResources } from './lambda/lambda-server.ts';
import type { StateMachines } from './step-functions/state-machines.ts';
import { startStepFunctions } from './step-functions/step-functions-server.ts';

/** Ports on 127.0.0.1 that the user chose; a service without one gets a free port. */
export interface ServicePorts {
  readonly kinesis?: number;
  readonly dynamodb?: number;
  readonly s3?: number;
  readonly lambda?: number;
  readonly stepFunctions?: number;
}

/** What the fronts of Lambda and Step Functions look into; it fills while the stack is created. */
export interface ServedResources extends LambdaResources {
  readonly stateMachines: StateMachines;
}

export type DynamoDbEmulator = Awaited<ReturnType<typeof startDynamoDb>>;

export interface LocalServices {
  readonly endpoints: ServiceEndpoints;
  readonly dynamodb: DynamoDbEmulator;
  stop(): Promise<void>;
}

/** Starts all services together. If one fails, none is left behind. */
export async function startLocalServices(
  served: ServedResources,
  ports: ServicePorts = {},
): Promise<LocalServices> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.splice(0).map((service) => service.stop()));
  };
  const start = async <Service extends Emulator>(
    name: string,
    starting: Promise<Service>,
    port: number | undefined,
  ): Promise<{ service: Service; endpoint: string }> => {
    const service = await starting;
    started.push(service);
    if (port === undefined) return { service, endpoint: service.endpoint };
    const fixed: FixedPort = await openFixedPort(name, port, service.endpoint);
    started.push({ stop: () => fixed.close() });
    return { service, endpoint: fixed.endpoint };
  };
  const starting = [
    start('Kinesis', startKinesis(), ports.kinesis),
    start('DynamoDB', startDynamoDb(), ports.dynamodb),
    start('S3', startS3(), ports.s3),
    start('Lambda', startLambdaServer(served), ports.lambda),
    start('Step Functions', startStepFunctions(served.stateMachines), ports.stepFunctions),
  ] as const;
  try {
    const [kinesis, dynamodb, s3, lambda, stepFunctions] = await Promise.all(starting);
    return {
      endpoints: {
        kinesis: kinesis.endpoint,
        dynamodb: dynamodb.endpoint,
        s3: s3.endpoint,
        lambda: lambda.endpoint,
        stepFunctions: stepFunctions.endpoint,
      },
      dynamodb: dynamodb.service,
      stop,
    };
  } catch (error) {
    // What still starts can only be stopped once it has.
    await Promise.allSettled(starting);
    await stop();
    throw error;
  }
}
