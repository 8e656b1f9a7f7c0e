import type { Command } from 'commander';
import { createStepDisplay } from '../../cli/demo/step-display.ts';
import { readEndpointUrl } from './endpoint-address.ts';
import { endpointVariables } from './endpoint-environment.ts';
import { describeEndpoint } from './find-endpoint.ts';
import { openEndpoint } from './open-endpoint.ts';
import { addProductFlag } from './product-flag.ts';
import type { Product } from './products.ts';
import { stopStarted } from './stop-started.ts';
import { withUndo } from './undo-list.ts';

interface UpFlags {
  readonly product?: Product;
  readonly json: boolean;
}

/** `up`: an endpoint answers afterwards. Twice, it finds what it has started. */
export function addUpCommand(program: Command): void {
  addProductFlag(program.command('up'))
    .description('find the endpoint at AWS_ENDPOINT_URL, or start one there')
    .option('--json', 'print the result as JSON', false)
    .action(up);
}

async function up({ product, json }: UpFlags): Promise<void> {
  const url = readEndpointUrl(process.env);
  const display = createStepDisplay();
  const endpoint = await withUndo((undo) =>
    openEndpoint({
      ...{ url, product, signal: undo.signal },
      onStep: (text) => display.step(text),
      onStarting: (port) => undo.add(() => stopStarted(port)),
    }),
  );
  if (json) {
    console.log(JSON.stringify(endpoint, undefined, 2));
    return;
  }
  console.log(`${describeEndpoint(endpoint)}${endpoint.isNew ? ', started' : ', found'}`);
  const variables = Object.entries(endpointVariables(process.env, url));
  console.log(`export ${variables.map(([name, value]) => `${name}=${value}`).join(' ')}`);
}
