// Starts something that stops on signals; prints when it is ready and when it stops. The argument says how it stops.
import { setTimeout as sleep } from 'node:timers/promises';

import { stopOnSignals } from '../../../../localstack/embedded/stop-signals.ts';

stopOnSignals({
  async stop() {
    console.log('stopping');
    if (process.argv[2] === 'never') await new Promise(() => undefined);
    if (process.argv[2] === 'badly') throw new Error('no way');
    await sleep(10);
    console.log('stopped');
  },
});
setInterval(() => undefined, 1_000);
console.log('ready');
