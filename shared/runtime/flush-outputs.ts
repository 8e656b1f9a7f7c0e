import { originOf } from '../core/channel.ts';
import { emissionId, emissionsUpTo } from '../core/emission.ts';
import { HoldfastError } from '../core/errors.ts';
import type { Position } from '../core/position.ts';
import type { SinkRow, SinkSource } from '../ports/sink.ts';
import type { ChannelSession } from './channel-session.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import type { KeyRun } from './run-key.ts';

/**
 * Hands the emissions of the winning items to their sinks: all that are past progress and at or before the unit's end
 * (P2, P3). Every sink acknowledges before this returns.
 */
export async function flushOutputs(
  runtime: OperatorRuntime,
  session: ChannelSession,
  runs: Iterable<KeyRun>,
  end: Position,
): Promise<void> {
  const origin = originOf(session.channel.stream);
  const rowsBySink = new Map<string, SinkRow[]>();
  for (const run of runs) {
    for (const emission of emissionsUpTo(run.emissions, end)) {
      let rows = rowsBySink.get(emission.sink);
      if (rows === undefined) rowsBySink.set(emission.sink, (rows = []));
      const id = emissionId(runtime.operator.id, origin, run.place.hash, emission);
      rows.push({ emission, key: run.place.key, id });
    }
  }
  const source: SinkSource = {
    job: runtime.job,
    operator: runtime.operator.id,
    generation: session.progress.generation,
    channel: session.id,
    origin,
  };
  const receipts = await Promise.all(
    [...rowsBySink].map(([name, rows]) => {
      const sink = runtime.sinks.get(name);
      if (sink === undefined) {
        throw new HoldfastError(
          'invalid',
          `operator ${runtime.operator.id} has outputs for sink ${JSON.stringify(name)}, which is not deployed; sinks are a contract, deploy it again`,
        );
      }
      return sink.write(source, rows);
    }),
  );
  for (const { written, skipped } of receipts) {
    session.counters.outputsWritten += written;
    session.counters.outputsSkipped += skipped;
  }
}
