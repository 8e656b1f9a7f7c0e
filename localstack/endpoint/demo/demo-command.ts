import type { Command } from 'commander';
import { createStepDisplay } from '../../../cli/demo/step-display.ts';
import { readWhole } from '../../../cli/read-whole.ts';
import { readEndpointUrl } from '../endpoint-address.ts';
import { endpointVariables } from '../endpoint-environment.ts';
import { knownGaps } from '../known-gaps.ts';
import { openEndpoint } from '../open-endpoint.ts';
import { addProductFlag } from '../product-flag.ts';
import { productNames, type Product } from '../products.ts';
import { deleteStack } from '../stack/delete-stack.ts';
import { stackName } from '../stack/deploy-stack.ts';
import { createEndpointClients } from '../stack/endpoint-clients.ts';
import { stopStarted } from '../stop-started.ts';
import { withUndo } from '../undo-list.ts';
import { formatDemo } from './format-demo.ts';
import { demoStage, runEndpointDemo } from './run-endpoint-demo.ts';

interface DemoFlags {
  readonly product?: Product;
  readonly flights: number;
  readonly shards: number;
  readonly seed: number;
  readonly keep: boolean;
  readonly json: boolean;
}

/** `demo`: exit code 0 where all tables are equal before and after the restore, 1 where a row differs. */
export function addDemoCommand(program: Command): void {
  addProductFlag(program.command('demo'))
    .description(
      'deploy the job to the endpoint, let it process 20,000 real flights with a savepoint half-way, restore it to that, and compare the tables with a plain computation before and after; then take all down',
    )
    .option('--flights <number>', 'of the flights, the first ones', readWhole(100, 20_000), 20_000)
    // Fewer than on the embedded AWS: MiniStack does all that they ask for in one process.
    .option('--shards <number>', 'shards of the stream', readWhole(1, 16), 2)
    .option('--seed <number>', 'decides how late flights are reported', readWhole(0, 2 ** 31), 1)
    .option('--keep', 'leave stack and endpoint as they are at the end', false)
    .option('--json', 'print the result as JSON', false)
    .action(async (flags: DemoFlags) => {
      process.exitCode = await demo(flags);
    });
}

async function demo({ product, keep, json, ...flags }: DemoFlags): Promise<number> {
  const url = readEndpointUrl(process.env);
  const display = createStepDisplay();
  const onStep = (text: string): void => display.step(text);
  const onPut = (put: number, total: number): void => display.count(put, total);
  const clients = createEndpointClients(url);
  try {
    return await withUndo(async (undo) => {
      const { signal } = undo;
      const onStarting = (port: number): void => undo.add(() => stopStarted(port));
      const endpoint = await openEndpoint({ url, product, onStep, onStarting, signal });
      tellGaps(endpoint.product);
      undo.add(() => deleteStack(clients, stackName(demoStage)));
      const options = { ...flags, endpoint, clients, onStep, onPut, signal };
      const result = await runEndpointDemo(options);
      if (keep) undo.clear();
      else {
        onStep('taking all down');
        await undo.run();
      }
      display.end();
      const report = { endpoint, ...result, knownGaps: knownGaps[endpoint.product] };
      console.log(json ? JSON.stringify(report, undefined, 2) : formatDemo(report));
      if (keep) tellWhatStays(url);
      return result.differences.length === 0 ? 0 : 1;
    });
  } finally {
    display.end();
    clients.destroy();
  }
}

function tellGaps(product: Product): void {
  for (const { gap, consequence } of knownGaps[product]) {
    console.error(`note: ${productNames[product]}: ${gap}; here, ${consequence}`);
  }
}

function tellWhatStays(url: string): void {
  const variables = Object.entries(endpointVariables(process.env, url));
  console.error(`\nStack ${stackName(demoStage)} is up; npm run localstack:down takes it down.
export ${variables.map(([name, value]) => `${name}=${value}`).join(' ')}`);
}
