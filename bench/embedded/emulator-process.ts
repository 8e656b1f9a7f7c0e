import { startDynamoDb } from '../../localstack/embedded/emulators/dynamodb.ts';
import { startS3 } from '../../localstack/embedded/emulators/s3.ts';
import { startLoopbackServer } from '../../localstack/embedded/loopback-server.ts';

/*
 * A process with DynamoDB and S3 in its memory, so that what others are measured at has nothing of it. Prints where it listens as
 * one line of JSON; GET on `usage` gives what was asked of it since the last DELETE. It ends with its standard input.
 */

const [dynamodb, s3] = await Promise.all([startDynamoDb(), startS3()]);

const usage = await startLoopbackServer(0, ({ method }) => {
  const body = JSON.stringify({ dynamodb: dynamodb.stats(), s3: s3.stats() });
  if (method === 'DELETE') {
    dynamodb.resetStats();
    s3.resetStats();
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
});

const places = { dynamodb: dynamodb.endpoint, s3: s3.endpoint, usage: usage.endpoint };
process.stdout.write(`${JSON.stringify(places)}\n`);
process.stdin.resume().once('end', () => process.exit());
