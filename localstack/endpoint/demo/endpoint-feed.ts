import type { KinesisClient } from '@aws-sdk/client-kinesis';
import { endStream, putFlights, type RecordPlace } from '../../../cli/demo/feed-stream.ts';
import type { Flight } from '../../../cli/demo/flights.ts';

/** Records in a request. */
const chunkRecords = 250;

/** Puts flights into a stream, and knows the last record of each shard. */
export interface EndpointFeed {
  put(flights: readonly Flight[]): Promise<void>;
  /** Nothing can be put after it. */
  end(): Promise<void>;
  ends(): readonly RecordPlace[];
}

export function createEndpointFeed(
  client: KinesisClient,
  stream: string,
  onPut: (put: number) => void,
): EndpointFeed {
  const ends = new Map<string, RecordPlace>();
  let put = 0;
  const note = (places: readonly RecordPlace[]): void => {
    for (const place of places) ends.set(place.shardId, place);
  };
  return {
    async put(flights) {
      for (let at = 0; at < flights.length; at += chunkRecords) {
        const chunk = flights.slice(at, at + chunkRecords);
        note(await putFlights(client, stream, chunk));
        onPut((put += chunk.length));
      }
    },
    end: async () => note(await endStream(client, stream)),
    ends: () => [...ends.values()],
  };
}
