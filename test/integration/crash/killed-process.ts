// Delivers the input to a job, as the process of an environment would, until it is killed. Told by its parent which job.
import { createInput, ledgerLines } from './input.ts';
import { deliverAll, openRuntime } from './ledger-job.ts';

export interface Delivery {
  readonly jobId: string;
  readonly batchRecords: number;
}

// Whoever was to kill it is gone.
process.once('disconnect', () => process.exit());
process.once('message', (message) => {
  const { jobId, batchRecords } = message as Delivery;
  const input = createInput(ledgerLines);
  deliverAll(openRuntime(jobId, input), input, batchRecords).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.('ready');
