import { startDynamoDb } from './emulators/dynamodb.ts';
import type { Emulator } from './emulators/emulator.ts';
import { startKinesis } from './emulators/kinesis.ts';
import { startS3 } from './emulators/s3.ts';
import { openFixedPort, type FixedPort } from './fixed-port.ts';
import type { ServiceEndpoints } from './lambda/environment-variables.ts';

/** Ports on 127.0.0.1 that the user chose; a service without one gets a free port. */
export interface ServicePorts {
  readonly kinesis?: number;
  readonly dynamodb?: number;
  readonly s3?: number;
}

export type DynamoDbEmulator = Awaited<ReturnType<typeof startDynamoDb>>;

export interface LocalServices {
  readonly endpoints: ServiceEndpoints;
  readonly dynamodb: DynamoDbEmulator;
  stop(): Promise<void>;
}

/** Starts Kinesis, DynamoDB and S3 together. If one fails, none is left behind. */
export async function startLocalServices(ports: ServicePorts = {}): Promise<LocalServices> {
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
  const results = await Promise.allSettled([
    start('Kinesis', startKinesis(), ports.kinesis),
    start('DynamoDB', startDynamoDb(), ports.dynamodb),
    start('S3', startS3(), ports.s3),
  ] as const);
  const [kinesis, dynamodb, s3] = results;
  if (
    kinesis.status === 'fulfilled' &&
    dynamodb.status === 'fulfilled' &&
    s3.status === 'fulfilled'
  ) {
    return {
      endpoints: {
        kinesis: kinesis.value.endpoint,
        dynamodb: dynamodb.value.endpoint,
        s3: s3.value.endpoint,
      },
      dynamodb: dynamodb.value.service,
      stop,
    };
  }
  await stop();
  throw results.find((result) => result.status === 'rejected')?.reason;
}
