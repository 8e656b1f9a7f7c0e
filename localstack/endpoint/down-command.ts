import type { Command } from 'commander';
import { readEndpointUrl, readLocalPort } from './endpoint-address.ts';
import { demoStage } from './demo/run-endpoint-demo.ts';
import { describeEndpoint, findEndpoint, type Endpoint } from './find-endpoint.ts';
import { deleteStack } from './stack/delete-stack.ts';
import { stackName } from './stack/deploy-stack.ts';
import { createEndpointClients } from './stack/endpoint-clients.ts';
import { stopStarted } from './stop-started.ts';

/** `down`: nothing of these tools is there afterwards. What they have not started stays, without the stacks. */
export function addDownCommand(program: Command): void {
  program
    .command('down')
    .description(
      'delete the demonstration’s stacks, and stop the endpoint where it was started here',
    )
    .option('--json', 'print the result as JSON', false)
    .action(down);
}

async function down({ json }: { readonly json: boolean }): Promise<void> {
  const url = readEndpointUrl(process.env);
  const endpoint = await findEndpoint(url);
  const deleted = endpoint === undefined ? [] : await deleteStacks(endpoint);
  const port = readLocalPort(url);
  const isStopped = port !== undefined && (await stopStarted(port));
  if (json) {
    console.log(JSON.stringify({ url, endpoint, deleted, isStopped }, undefined, 2));
    return;
  }
  for (const stack of deleted) console.log(`deleted ${stack}`);
  if (isStopped) console.log(`stopped what was started at ${url}`);
  else if (endpoint === undefined) console.log(`nobody answers at ${url}`);
  else console.log(`${describeEndpoint(endpoint)} was not started here and stays`);
}

async function deleteStacks({ url }: Endpoint): Promise<string[]> {
  const clients = createEndpointClients(url);
  const deleted: string[] = [];
  try {
    for (const stack of [stackName(), stackName(demoStage)]) {
      if (await deleteStack(clients, stack)) deleted.push(stack);
    }
  } finally {
    clients.destroy();
  }
  return deleted;
}
