import { formatPosition } from '../../shared/core/position.ts';
import { createMemoryControlStore } from '../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryShardWriter } from '../../shared/adapters/memory/memory-shard-writer.ts';
import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
  type MemorySink,
} from '../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../shared/adapters/memory/memory-state-store.ts';
import { createMemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { describeControlStore } from './control-store.contract.ts';
import { describeFences } from './fence.contract.ts';
import { describeHintStore } from './hint-store.contract.ts';
import { describeObjectStore } from './object-store.contract.ts';
import { describeRegistry } from './registry.contract.ts';
import { describeShardReader } from './shard-reader.contract.ts';
import { describeShardWriter, type WritableStreamUnderTest } from './shard-writer.contract.ts';
import {
  describeAppendSink,
  describeUpsertSink,
  type SinkUnderTest,
  type VisibleRow,
} from './sink.contract.ts';
import { describeSinkTable } from './sink-table.contract.ts';
import { describeStateStore } from './state-store.contract.ts';

describeStateStore('memory', async () => {
  const store = createMemoryStateStore();
  return {
    store,
    readExpiry: async (scope, { key }) =>
      store.rows().find((row) => row.scope.job === scope.job && row.item.key === key)
        ?.expiresAtSeconds,
  };
});

describeControlStore('memory', async () => createMemoryControlStore());

describeFences('memory', async () => createMemoryControlStore());

describeRegistry('memory', async () => createMemoryControlStore());

describeHintStore('memory', async () => createMemoryHintStore());

describeObjectStore('memory', async () => createMemoryObjectStore());

describeShardReader('memory', openStream);

describeShardWriter('memory', openStream);

async function openStream(shards: number): Promise<WritableStreamUnderTest> {
  const stream = createMemoryStream({ shards });
  return {
    name: stream.incarnation.name,
    writer: createMemoryShardWriter(stream),
    reader: createMemoryShardReader(stream, { pageRecordsMax: 4 }),
    put: async (partitionKey, data, explicitHashKey) =>
      stream.put(partitionKey, data, explicitHashKey === undefined ? {} : { explicitHashKey }),
    split: async (shardId) => {
      stream.split(shardId);
    },
    merge: async (shardId, adjacentShardId) => {
      stream.merge(shardId, adjacentShardId);
    },
  };
}

describeAppendSink('memory', async () => exposeRows(createMemoryAppendSink()));

describeUpsertSink('memory', async () => exposeRows(createMemoryUpsertSink()));

describeSinkTable('memory, append', async () => createMemoryAppendSink());

describeSinkTable('memory, upsert', async () => createMemoryUpsertSink());

function exposeRows(sink: MemorySink): SinkUnderTest {
  return {
    sink,
    readRows: async (keys) =>
      keys.flatMap((key) =>
        sink
          .rows()
          .filter((row) => row.key === key)
          .map((row): VisibleRow => ({
            key,
            row: row.row,
            id: row.id,
            generation: row.source.generation,
            channel: row.source.channel,
            position: formatPosition(row.position),
            value: row.value as Record<string, unknown>,
          })),
      ),
  };
}
