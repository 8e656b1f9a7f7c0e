import { HoldfastError } from '../../../shared/core/errors.ts';
import { deadLetterSink } from '../../../shared/core/emission.ts';
import type { OperatorContract } from '../../../shared/core/manifest.ts';
import type { OperatorCalls } from '../../../shared/ports/operator-calls.ts';
import type { SinkTable, SweptSink } from '../../../shared/ports/sink.ts';
import type { System } from '../../../shared/ports/system.ts';
import { describeOperator } from '../../../shared/runtime/describe-operator.ts';
import type { ClonedJob, RestorePorts } from '../../../shared/runtime/restore/restore-order.ts';
import { gatePorts, type DrawFault } from '../engine/gated-ports.ts';
import type { Gate, StepOwner } from '../engine/gate.ts';
import { soundMapping } from '../../unit/runtime/restore/sound-mapping.ts';
import type { SystemWorld } from './system-world.ts';

export interface ManagerOptions {
  readonly owner: StepOwner;
  readonly draw: DrawFault;
  readonly visit: OperatorCalls['visit'];
  /** What the deployed code is a contract about. @default that of the world's own */
  readonly describe?: () => OperatorContract;
  /** @default the world's */
  readonly system?: System;
  /** The job that the world's is a clone of. @default none */
  readonly cloned?: Pick<SystemWorld, 'job' | 'ports'>;
}

/** What a coordinator, a step of a workflow or a sweep sees, every call of it behind the gate. */
export function gateManagerPorts(
  world: SystemWorld,
  gate: Gate,
  options: ManagerOptions,
): RestorePorts {
  const { owner, draw, visit, system = world.system } = options;
  const describe = options.describe ?? (() => describeOperator(world.operator));
  const { sinks, ...stores } = gatePorts(world.ports, gate, owner, draw);
  const { operator, sinks: tables, telemetry } = world;
  const swept = (
    [
      ['journal', tables.journal],
      ['balance', tables.balance],
      [deadLetterSink, tables.deadLetters],
    ] as const
  ).map(([name, table]): SweptSink => {
    return {
      operator: operator.id,
      name,
      table: gateTable(table, name, gate, owner, draw),
      sink: sinks.get(name)!,
    };
  });
  const { cloned } = options;
  return {
    job: world.job,
    ...stores,
    ...(cloned === undefined ? {} : { cloned: gateCloned(cloned, gate, options) }),
    ...{ system, telemetry },
    calls: { describe: async () => describe(), visit },
    sinks: swept,
    mappings: {
      read: async () => soundMapping((await stores.reader.describe()).incarnation.name),
    },
  };
}

/** What a clone makes of another job's registry and files are calls of their own: `cloned.registry.write`. */
function gateCloned(
  { job, ports }: Pick<SystemWorld, 'job' | 'ports'>,
  gate: Gate,
  { owner, draw }: ManagerOptions,
): ClonedJob {
  const mark = (label: string): string => `cloned.${label}`;
  const marked: Gate = {
    ...gate,
    step: (one, label, effect) => gate.step(one, mark(label), effect),
    strike: (fault, label) => gate.strike(fault, mark(label)),
  };
  const { ofRead } = draw;
  const drawn: DrawFault = Object.assign((label: string) => draw(mark(label)), {
    ...(ofRead === undefined ? {} : { ofRead: (label: string) => ofRead(mark(label)) }),
  });
  const { control, objects } = gatePorts(ports, marked, owner, drawn);
  return { job, control, objects };
}

/** Rows are looked at one by one, and go one by one. */
function gateTable(
  table: SinkTable,
  name: string,
  gate: Gate,
  owner: StepOwner,
  draw: DrawFault,
): SinkTable {
  return {
    kind: table.kind,
    scan: async function* (after) {
      for await (const row of table.scan(after)) {
        yield await gate.step(owner, `sink.${name}.scan`, async () => row);
      }
    },
    remove: async (rows) => {
      let removed = 0;
      for (const row of rows) {
        const label = `sink.${name}.remove ${row.key}`;
        const fault = draw(label);
        if (fault !== 'none') gate.strike(fault, label);
        if (fault === 'refused') throw new HoldfastError('unavailable', `${label}: refused`);
        removed += await gate.step(owner, label, () => table.remove([row]));
        if (fault === 'reply-lost') throw new HoldfastError('unavailable', `${label}: no reply`);
      }
      return removed;
    },
  };
}
