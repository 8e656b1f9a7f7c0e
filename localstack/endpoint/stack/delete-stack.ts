import {
  DeleteStackCommand,
  waitUntilStackDeleteComplete,
  type CloudFormationClient,
} from '@aws-sdk/client-cloudformation';
import { DeleteObjectsCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { HoldfastError } from '../../../shared/core/errors.ts';
import { describeStack } from './describe-stack.ts';
import type { EndpointClients } from './endpoint-clients.ts';

/** For one deletion, seconds. */
const deletionSecondsMax = 120;

/** A function that still runs can put an object into the bucket after it was emptied. */
const triesMax = 3;

/**
 * Deletes a stack that was deployed for a trial, with its data.
 *
 * @returns whether there was one
 * @throws HoldfastError `unavailable` where it stays
 */
export async function deleteStack(clients: EndpointClients, stack: string): Promise<boolean> {
  const { cloudFormation, s3 } = clients;
  for (let tries = 0; ; tries += 1) {
    const found = await describeStack(cloudFormation, stack);
    if (found === undefined) return tries > 0;
    if (tries === triesMax) {
      throw new HoldfastError(
        'unavailable',
        `stack ${stack} is ${found.status} after ${triesMax} tries to delete it; delete it by hand, or start the endpoint anew`,
      );
    }
    // CloudFormation does not delete a bucket that has something in it.
    const bucket = found.outputs['Bucket'];
    if (bucket !== undefined) await emptyBucket(s3, bucket);
    await requestDeletion(cloudFormation, stack);
  }
}

async function requestDeletion(client: CloudFormationClient, StackName: string): Promise<void> {
  await client.send(new DeleteStackCommand({ StackName }));
  const wait = { client, maxWaitTime: deletionSecondsMax, minDelay: 1, maxDelay: 2 };
  // What came of it is asked for afterwards.
  await waitUntilStackDeleteComplete(wait, { StackName }).catch(() => undefined);
}

async function emptyBucket(client: S3Client, Bucket: string): Promise<void> {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    const Objects = Contents.map(({ Key }) => ({ Key: Key! }));
    if (Objects.length === 0) continue;
    await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  }
}
