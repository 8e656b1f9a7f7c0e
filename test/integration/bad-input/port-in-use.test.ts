import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';
import { writeStack } from '../embedded/stack/fixture-stack.ts';
import { freePort, listenOn } from '../free-port.ts';

describe('a port that is in use', () => {
  it.for([
    ['kinesis', 'Kinesis'],
    ['s3', 'S3'],
  ] as const)(
    'is named with its service %s and what to do, and serves once it is free',
    async ([service, name]) => {
      const templateFile = writeStack({});
      const port = await freePort();
      const server = await listenOn(port);
      onTestFinished(() => void server.close());
      await expect(startEmbeddedAws({ templateFile, ports: { [service]: port } })).rejects.toThrow(
        `port ${port} on 127.0.0.1, wanted for the local ${name}, is in use by another process; stop that process (perhaps an earlier local AWS), choose another port, or leave the port out to get a free one`,
      );

      await new Promise<void>((resolve) => void server.close(() => resolve()));
      const aws = await startEmbeddedAws({ templateFile, ports: { [service]: port } });
      onTestFinished(() => aws.stop());
      expect(aws.endpoints[service]).toBe(`http://127.0.0.1:${port}`);
    },
  );
});
