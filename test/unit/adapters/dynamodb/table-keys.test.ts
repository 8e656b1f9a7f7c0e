import { describe, expect, it } from 'vitest';

import { createDynamodbAppendSink } from '../../../../shared/adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbUpsertSink } from '../../../../shared/adapters/dynamodb/dynamodb-upsert-sink.ts';
import { decodeStateItem } from '../../../../shared/adapters/dynamodb/state-item.ts';
import {
  appendRowSort,
  channelListKey,
  deadLetterPartition,
  jobKey,
  keyGroupOfPartition,
  probeKey,
  progressKey,
  statePartitionPrefix,
  suspicionKey,
  tableKey,
} from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { makeChannel } from '../../../contract/control-store.contract.ts';
import { fakeDynamodb } from '../fake-client.ts';

const channel = makeChannel();
const id = 'sessions/Events_v1.raw@1735689600000/shardId-000000000000';

function thrownBy(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

// A contract: items of released versions lie under these keys.
describe('table keys', () => {
  it('are spelled as they always were', () => {
    expect(statePartitionPrefix({ job: 'flights', generation: 3, operator: 'delays' })).toBe(
      'flights#3#delays#',
    );
    expect(jobKey('flights')).toEqual(tableKey('job#flights', 'job'));
    expect(progressKey('flights', 3, channel)).toEqual(
      tableKey(`progress#flights#3#${id}`, 'progress'),
    );
    expect(suspicionKey('flights', 3, channel)).toEqual(
      tableKey(`progress#flights#3#${id}`, 'suspicion'),
    );
    expect(channelListKey('flights', 3, channel)).toEqual(tableKey('channels#flights#3', id));
    expect(appendRowSort('events@1', '0.0.0')).toBe('events@1#0.0.0');
    expect(deadLetterPartition('delays', id)).toBe(`delays#${id}`);
    expect(probeKey('hit')).toEqual(tableKey('!probe', 'hit'));
  });

  it('give the key group back', () => {
    const prefix = statePartitionPrefix({ job: 'flights', generation: 3, operator: 'delays' });
    expect(keyGroupOfPartition(`${prefix}32767`)).toBe(32_767);
  });

  it.each(['a#b', 'A', '', 'a/b', 'a b'])('cannot be made of the name %o', (name) => {
    const calls = [
      () => statePartitionPrefix({ job: name, generation: 1, operator: 'delays' }),
      () => statePartitionPrefix({ job: 'flights', generation: 1, operator: name }),
      () => jobKey(name),
      () => progressKey(name, 1, channel),
      () => channelListKey(name, 1, channel),
      () => deadLetterPartition(name, id),
    ];
    for (const call of calls) expect(isHoldfastError(thrownBy(call), 'invalid')).toBe(true);
  });
});

describe('items of the state table', () => {
  it.each([
    ['version', { p: { S: '1.0' }, a: { N: '1' } }],
    ['position', { v: { N: '1' }, a: { N: '1' } }],
    ['arrival', { v: { N: '1' }, p: { S: '1.0' } }],
  ])('are corrupt without %s', (_title, attributes) => {
    const thrown = thrownBy(() => decodeStateItem({ ...tableKey('j#1#o#5', 'k'), ...attributes }));
    expect(isHoldfastError(thrown, 'corrupt')).toBe(true);
  });
});

describe('columns of a sink', () => {
  it.each(['pk', 'sk', '_id', "a'b", 'a"b', '', '1a'])('cannot have the name %o', (column) => {
    const client = fakeDynamodb(() => ({}));
    const options = { client, table: 't', system: createMemorySystem(), columns: ['ok', column] };
    for (const create of [createDynamodbAppendSink, createDynamodbUpsertSink]) {
      expect(
        isHoldfastError(
          thrownBy(() => create(options)),
          'invalid',
        ),
      ).toBe(true);
    }
  });
});
