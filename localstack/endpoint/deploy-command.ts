import type { Command } from 'commander';
import { createStepDisplay } from '../../cli/demo/step-display.ts';
import { readWhole } from '../../cli/read-whole.ts';
import { formatFacts } from '../../cli/table.ts';
import { readEndpointUrl } from './endpoint-address.ts';
import { describeEndpoint } from './find-endpoint.ts';
import { openEndpoint } from './open-endpoint.ts';
import { addProductFlag } from './product-flag.ts';
import type { Product } from './products.ts';
import { deployStack } from './stack/deploy-stack.ts';
import { createEndpointClients } from './stack/endpoint-clients.ts';
import { holdfastVariables } from './stack/holdfast-variables.ts';
import { stopStarted } from './stop-started.ts';
import { withUndo } from './undo-list.ts';

interface DeployFlags {
  readonly product?: Product;
  readonly shards: number;
  readonly json: boolean;
}

/** `deploy`: the stack is as this clone has it. */
export function addDeployCommand(program: Command): void {
  addProductFlag(program.command('deploy'))
    .description('deploy the demonstration to the endpoint, starting one where nobody answers')
    .option('--shards <number>', 'shards of the stream', readWhole(1, 16), 4)
    .option('--json', 'print the result as JSON', false)
    .action(deploy);
}

async function deploy({ product, shards, json }: DeployFlags): Promise<void> {
  const url = readEndpointUrl(process.env);
  const display = createStepDisplay();
  const onStep = (text: string): void => display.step(text);
  const clients = createEndpointClients(url);
  try {
    await withUndo(async (undo) => {
      const { signal } = undo;
      const onStarting = (port: number): void => undo.add(() => stopStarted(port));
      const endpoint = await openEndpoint({ url, product, onStep, onStarting, signal });
      const deployment = await deployStack(clients, { url, shards, onStep, signal });
      if (json) {
        console.log(JSON.stringify({ endpoint, ...deployment }, undefined, 2));
        return;
      }
      const { stack, outputs } = deployment;
      console.log(`${stack} is deployed to ${describeEndpoint(endpoint)}\n`);
      console.log(formatFacts(Object.entries(outputs)));
      const variables = Object.entries(holdfastVariables(deployment));
      console.log(`\n# for npx holdfast, with what localstack:up prints`);
      for (const [name, value] of variables) console.log(`export ${name}='${value}'`);
    });
  } finally {
    clients.destroy();
  }
}
