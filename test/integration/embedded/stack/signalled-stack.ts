// Runs the stack whose template is the argument until a signal comes; prints its children's process ids when one invocation runs.
import { readFileSync } from 'node:fs';

import { startEmbeddedAws } from '../../../../localstack/embedded/embedded-aws.ts';
import { stopOnSignals } from '../../../../localstack/embedded/stop-signals.ts';
import { pollUntilTrue } from '../poll-until.ts';

const aws = await startEmbeddedAws({ templateFile: process.argv[2] ?? '' });
stopOnSignals(aws);
void aws.functions.invoke('Bad', { how: 'hang' });
await pollUntilTrue('the invocation', () => aws.functions.get('Bad').stats().invocations === 1);
console.log(readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim());
