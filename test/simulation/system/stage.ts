import { isHoldfastError, isPassing } from '../../../shared/core/errors.ts';
import type { RandomSource } from '../../../shared/core/random.ts';
import type {
  OperatorCalls,
  VisitOrder,
  VisitReport,
} from '../../../shared/ports/operator-calls.ts';
import type { System } from '../../../shared/ports/system.ts';
import type { Deadline } from '../../../shared/runtime/deadline.ts';
import { describeOperator } from '../../../shared/runtime/describe-operator.ts';
import type { RestorePorts } from '../../../shared/runtime/restore/restore-order.ts';
import { chance, createGate, kindOfStep, pick, type Gate, type StepOwner } from '../engine/gate.ts';
import type { DrawFault } from '../engine/gated-ports.ts';
import { createProcesses, noAnswer, type Process, type Processes } from '../engine/processes.ts';
import { gateManagerPorts } from './gated-managers.ts';
import type { SystemPlan } from './draw-plan.ts';
import { operatorOf, visit, type Code, type SystemWorld } from './system-world.ts';

/** What all actors of one run share. */
export interface Stage {
  readonly world: SystemWorld;
  readonly plan: SystemPlan;
  readonly random: RandomSource;
  readonly gate: Gate;
  readonly processes: Processes;
  readonly draw: DrawFault;
  /** The code that is deployed at this moment. */
  code(): Code;
  deploy(flavour: string): void;
  /** What a process outside of the operators sees: every call behind the gate, by a clock of its own. */
  portsOf(process: Process): RestorePorts;
  systemOf(owner: StepOwner): System;
  /** The time of an invocation, which may be short. */
  drawDeadline(): Deadline;
  /** Begins a process that nobody waits for; what it throws and should not is a finding. */
  run(kind: string, work: (process: Process) => Promise<unknown>): void;
  /** Kills everybody who is at work on this job, those that sleep and that nobody waits for any more, too. */
  killAll(): void;
  /** Notes an error that nothing in this run explains. */
  judge(who: string, thrown: unknown): void;
}

/** Longer than anything lasts. */
const plentyMs = 240_000;

/** How the stage of one job differs from that of a job alone. */
export interface StageOptions {
  /** A stage beside which this one stands: they share steps, processes and dice. */
  readonly beside?: Stage;
  /** What the names of its processes begin with, and a colon behind it. @default nothing */
  readonly mark?: string;
  /** @default that which tells everything */
  readonly code?: Code;
}

export function createStage(
  world: SystemWorld,
  plan: SystemPlan,
  random: RandomSource,
  options: StageOptions = {},
): Stage {
  const { beside, mark } = options;
  const isMine = (name: string): boolean =>
    mark === undefined ? !name.includes(':') : name.startsWith(`${mark}:`);
  const gate = beside?.gate ?? createGate();
  const all = beside?.processes ?? createProcesses(random, plan);
  const processes: Processes = {
    ...all,
    begin: (kind, onLost) => all.begin(mark === undefined ? kind : `${mark}:${kind}`, onLost),
  };
  let code = options.code ?? { flavour: '', version: 1 };
  const draw = createDraw(plan, random);
  const systemOf = (owner: StepOwner): System => {
    // Clocks of machines differ, a little as a rule.
    const skewMs = chance(random, plan.skewProbability) ? pick(random, 600_000) - 300_000 : 0;
    return gateSystem(world.system, gate, owner, skewMs);
  };
  const judge = (who: string, thrown: unknown): void => {
    // It says so, and whoever comes next goes on.
    if (isPassing(thrown)) return;
    if (plan.corruptShare > 0 && isHoldfastError(thrown, 'corrupt')) return;
    world.findings.push(`${who} threw ${describe(thrown)}`);
  };
  const visits = (caller: Process): OperatorCalls['visit'] => {
    let futile = 0;
    return async (_, order) => {
      const report = await callVisit(order);
      futile = report.isThere || report.records > 0 ? 0 : futile + 1;
      if (futile > futileVisitsMax) processes.kill(caller);
      return report;
    };
  };
  const callVisit = (order: VisitOrder): Promise<VisitReport> =>
    new Promise((resolve, reject) => {
      const called = processes.begin('V', () => reject(noAnswer('the operator')));
      const { owner } = called;
      const unitRecordsMax = 1 + pick(random, 4);
      const options = { order, draw, unitRecordsMax, system: systemOf(owner) };
      visit(world, gate, owner, code, options)
        .then(resolve, reject)
        .finally(() => processes.end(called));
    });
  return {
    ...{ world, plan, random, gate, processes, draw, systemOf, judge },
    code: () => code,
    deploy: (flavour) => {
      code = { flavour, version: code.version + (plan.hasVersions ? 1 : 0) };
    },
    portsOf: (process) =>
      gateManagerPorts(world, gate, {
        ...{ owner: process.owner, draw, visit: visits(process) },
        ...(beside === undefined ? {} : { cloned: beside.world }),
        describe: () => describeOperator(operatorOf(world, code)),
        system: systemOf(process.owner),
      }),
    killAll() {
      processes.killAll(isMine);
      gate.forgetDead();
    },
    drawDeadline() {
      let looks = chance(random, plan.hasteProbability)
        ? 1 + pick(random, 6)
        : Number.POSITIVE_INFINITY;
      return { remainingMs: () => (looks-- > 0 ? plentyMs : 0) };
    },
    run(kind, work) {
      const process = processes.begin(kind, () => undefined);
      work(process)
        .catch((thrown: unknown) => judge(process.owner.name, thrown))
        .finally(() => processes.end(process));
    },
  };
}

/** Visits of one caller that come to nothing in a row: its time is taken to be over. */
const futileVisitsMax = 12;

/** Of a fault of a write in focus. */
const focusProbability = 0.25;

function createDraw(plan: SystemPlan, random: RandomSource): DrawFault {
  const draw = (label: string): 'none' | 'refused' | 'reply-lost' => {
    const isInFocus = kindOfStep(label) === plan.focus;
    const probability = isInFocus ? focusProbability : plan.faultProbability;
    if (!chance(random, probability)) return 'none';
    return chance(random, 0.5) ? 'refused' : 'reply-lost';
  };
  const ofRead = (label: string): 'none' | 'refused' | 'corrupted' | 'stale' => {
    if (label === 'stream.shards') {
      return chance(random, plan.staleProbability) ? 'stale' : 'none';
    }
    if (!chance(random, plan.faultProbability)) return 'none';
    return chance(random, plan.corruptShare) ? 'corrupted' : 'refused';
  };
  return Object.assign(draw, { ofRead });
}

/** The world's clock behind the gate, for one who sees it shifted: whoever sleeps lets time pass for all. */
export function gateSystem(
  system: SystemWorld['system'],
  gate: Gate,
  owner: StepOwner,
  skewMs: number,
): System {
  return {
    now: () => system.now() + skewMs,
    randomId: () => system.randomId(),
    randomVersion: () => system.randomVersion(),
    sleep: (ms) => {
      const untilMs = system.now() + ms;
      return gate.step(owner, 'clock.sleep', async () => {
        system.advance(Math.max(0, untilMs - system.now()));
      });
    },
  };
}

export function describe(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
