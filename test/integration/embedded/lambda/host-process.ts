// A host with one function that never gives up its event loop. Prints the function's process id once it spins, and waits.
import { existsSync } from 'node:fs';

import { pollUntilTrue } from '../poll-until.ts';
import { createTestFunction } from './test-function.ts';

const [, , file = ''] = process.argv;
const tested = createTestFunction('misbehave.handler');
await tested.invoke('{}');
void tested.invoke(JSON.stringify({ how: 'spin', file }));
await pollUntilTrue('the spinning', () => existsSync(file));
console.log(tested.pids()[0]);
