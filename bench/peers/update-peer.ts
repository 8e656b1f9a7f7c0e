import type { CountedEvent } from '../embedded/counting-operator.ts';
import { decodeData, type KinesisEvent, type Peer } from './peer.ts';
import { createPlainClient } from '../embedded/plain-client.ts';
import { createTotalsTable } from '../embedded/totals-table.ts';

/** An update for each event and nothing else: what is delivered twice counts twice. */
export function createUpdatePeer(runId: string): Peer {
  const dynamodb = createPlainClient();
  const table = createTotalsTable(dynamodb, `${runId}.totals`);
  return {
    prepare: () => table.create(),
    async deliver(event) {
      const { Records } = JSON.parse(event) as KinesisEvent;
      await Promise.all(Records.map((record) => table.add(decodeData<CountedEvent>(record))));
    },
    readTotals: () => table.read(),
    async close() {
      dynamodb.destroy();
    },
  };
}
