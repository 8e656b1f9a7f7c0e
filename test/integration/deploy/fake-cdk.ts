import { resolve } from 'node:path';

/*
 * Stands for `cdk deploy <stack> --app <folder>`: tells the test which folder to deploy, waits until it is done, and ends as the test
 * says. A signal ends it, as it ends cdk.
 */
const args = process.argv.slice(2);
const app = args[args.indexOf('--app') + 1] ?? '';
console.log(`fake cdk: ${args.join(' ')}`);
const reply = await fetch(`${process.env['HOLDFAST_TEST_CDK'] ?? ''}/deploy`, {
  method: 'POST',
  body: JSON.stringify({ args, folder: resolve(app) }),
});
process.exitCode = Number(await reply.text());
