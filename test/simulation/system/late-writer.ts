import { createEnvironment } from '../data-path/deployment.ts';
import { createGate, type ChooseStep, type StepOwner } from '../engine/gate.ts';
import type { Entry } from '../engine/ledger.ts';
import type { OperatorCalls } from '../../../shared/ports/operator-calls.ts';
import { restoreJob } from '../../unit/runtime/restore/restore-job.ts';
import { auditRestored, auditUnswept } from './audit-restore.ts';
import { calmDown, openGate, sweepAll, takeCheckpoint } from './calm-world.ts';
import { gateManagerPorts } from './gated-managers.ts';
import { createSystemWorld, deliver, visit } from './system-world.ts';

/*
 * A late writer, exhaustively: an invocation of the old generation, or a twin of the restore, is stopped after every number of
 * its calls; the restore runs, and after every number of its own calls the late one goes on to its end.
 */

const entries: readonly Entry[] = [
  { account: 'k0', id: 1, kind: 'add', at: 100 },
  { account: 'k1', id: 2, kind: 'add', at: 101 },
  // Behind the cut.
  {
    account: 'k0',
    id: 3,
    kind: 'add',
    at: 104,
    timer: { name: 'two', time: 106, domain: 'event' },
  },
  { account: 'k1', id: 4, kind: 'delete', at: 105 },
  // In flight at the hold.
  { account: 'k0', id: 5, kind: 'delete', at: 112 },
  { account: 'k1', id: 6, kind: 'add', at: 113 },
];

export interface LateWriter {
  readonly kind: 'invocation' | 'twin';
  /** Calls that it makes in time, and calls of the restore before the others. */
  readonly stopsAfter: number;
  readonly wakesAfter: number;
}

export interface LateOutcome {
  readonly findings: readonly string[];
  readonly lateCalls: number;
  readonly restoreCalls: number;
}

export async function runLateWriter(writer: LateWriter): Promise<LateOutcome> {
  const world = await createSystemWorld({ seed: 'late', shards: 1, hasOtherLogic: false });
  const patrol = { name: 'patrol', isDead: false };
  const put = (from: number, to: number): void => {
    for (const entry of entries.slice(from, to)) world.put(entry.account, entry);
  };
  const { shardId } = world.stream.shards()[0]!;
  const faults = { draw: () => 'none' as const, unitRecordsMax: 10 };
  const read = () =>
    visit(
      world,
      openGate,
      patrol,
      { flavour: '', version: 100 },
      { order: { shardId, goal: { kind: 'tip' } }, ...faults },
    );
  put(0, 2);
  await read();
  const manifest = await takeCheckpoint(world);
  put(2, 4);
  await read();
  put(4, 6);

  const gate = createGate();
  const late: StepOwner = { name: 'L', isDead: false };
  const own: StepOwner = { name: 'R', isDead: false };
  const restore = (owner: StepOwner): Promise<unknown> => {
    const order = { restore: 'r1', manifest, allowNonRestoredState: false, acceptsGaps: false };
    let visits = 0;
    const visitIts: OperatorCalls['visit'] = (_, one) => {
      visits += 1;
      // Its hold is over; the process would end with its time.
      if (visits > 20) return new Promise(() => undefined);
      return visit(world, gate, owner, { flavour: 'B', version: 100 }, { order: one, ...faults });
    };
    const ports = gateManagerPorts(world, gate, { owner, draw: faults.draw, visit: visitIts });
    return restoreJob(ports, { ...order, areTablesLost: false }).catch(() => undefined);
  };
  const { records } = world.stream.shard(shardId);
  if (writer.kind === 'twin') void restore(late);
  else {
    const delivery = { shardId, records: records.slice(4), ...faults };
    deliver(world, gate, late, { ...createEnvironment('late', 'A'), version: 100 }, delivery).catch(
      (error: unknown) => world.findings.push(`threw ${String(error)}`),
    );
  }
  const steps = { L: 0, R: 0 };
  const choose: ChooseStep = (labels) => chooseNext(labels, steps, writer);
  let hasBegun = false;
  const begin = (): boolean => {
    if (hasBegun) return false;
    hasBegun = true;
    void restore(own);
    return true;
  };
  await gate.drain((labels) => {
    if (!hasBegun && (steps.L >= writer.stopsAfter || labels.length === 0) && begin()) {
      return { index: -1, choice: 'proceed' };
    }
    return choose(labels);
  }, begin);
  // Whoever lost to the other is asked once more, as it would be by whoever has ordered it.
  await restoreJob(
    gateManagerPorts(world, openGate, {
      ...{ owner: patrol, draw: faults.draw },
      visit: (_, one) =>
        visit(world, openGate, patrol, { flavour: 'B', version: 100 }, { order: one, ...faults }),
    }),
    {
      ...{ restore: 'r1', manifest, allowNonRestoredState: false, acceptsGaps: false },
      areTablesLost: false,
    },
  );
  const findings = [...world.findings];
  await calmDown(world);
  findings.push(...(await auditUnswept(world)));
  await sweepAll(world);
  findings.push(...(await auditRestored(world)));
  if (world.present().generation !== 2) findings.push('the restore was made twice');
  return { findings, lateCalls: steps.L, restoreCalls: steps.R };
}

/** The late one up to its stop, the restore up to where the late one wakes, the late one, the rest. Replies come at once. */
function chooseNext(
  labels: readonly string[],
  steps: { L: number; R: number },
  { stopsAfter, wakesAfter }: LateWriter,
): ReturnType<ChooseStep> {
  const reply = labels.findIndex((label) => label.includes(' after '));
  if (reply >= 0) return { index: reply, choice: 'proceed' };
  const find = (name: 'L' | 'R'): number =>
    labels.findIndex((label) => label.startsWith(`${name} `));
  const isLate = steps.L < stopsAfter || steps.R >= wakesAfter;
  const first = isLate ? 'L' : 'R';
  const name = find(first) >= 0 ? first : first === 'L' ? 'R' : 'L';
  steps[name] += 1;
  return { index: find(name), choice: 'proceed' };
}
