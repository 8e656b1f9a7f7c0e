import { describe, expect, it } from 'vitest';

import { createDynamodbAppendSink } from '../../../../shared/adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbUpsertSink } from '../../../../shared/adapters/dynamodb/dynamodb-upsert-sink.ts';
import {
  appendRowSort,
  channelListKey,
  deadLetterPartition,
  deadLetterSort,
  hintKey,
  hintPartition,
  hintSorts,
  jobKey,
  keyGroupOfPartition,
  probeKey,
  progressKey,
  statePartitionPrefix,
  suspicionKey,
  tableKey,
} from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { hashKey } from '../../../../shared/core/key-group.ts';
import { timerTimeMax } from '../../../../shared/core/timer.ts';
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
    const step = { keyHash: 'ab', key: 'k', time: 5, name: 'e:x' };
    expect(deadLetterSort('0.0.0', undefined)).toBe('0.0.0');
    expect(deadLetterSort('0.0.0', step)).toBe('0.0.0#ab');
    const scope = { job: 'flights', generation: 3, operator: 'delays' };
    const keyHash = hashKey('alice');
    expect(keyHash).toBe('6384e2b2184bcbf58eccf10ca7a6563c');
    expect(hintKey(scope, { domain: 'event', time: 0, key: 'alice', keyHash })).toEqual(
      tableKey('hints#flights#3#delays#6', `e4503599627370496#${keyHash}#alice`),
    );
    expect(hintKey(scope, { domain: 'arrival', time: -timerTimeMax, key: 'a#b', keyHash })).toEqual(
      tableKey('hints#flights#3#delays#6', `a0183599627370496#${keyHash}#a#b`),
    );
    expect(hintSorts('event')).toEqual(['e', 'e~']);
    expect(hintSorts('arrival')).toEqual(['a', 'a~']);
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
      () => hintPartition({ job: name, generation: 1, operator: 'delays' }, 0),
      () => hintPartition({ job: 'flights', generation: 1, operator: name }, 0),
    ];
    for (const call of calls) expect(isHoldfastError(thrownBy(call), 'invalid')).toBe(true);
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
