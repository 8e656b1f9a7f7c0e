import { isHoldfastError } from '../../../shared/core/errors.ts';
import { seededRandom, type RandomSource } from '../../../shared/core/random.ts';
import type { OperatorCalls } from '../../../shared/ports/operator-calls.ts';
import { describeOperator } from '../../../shared/runtime/describe-operator.ts';
import { runCompaction } from '../../../shared/runtime/checkpoint/run-compaction.ts';
import {
  beginSavepoint,
  completeSavepoint,
  cutSavepoint,
} from '../../../shared/runtime/checkpoint/savepoint-steps.ts';
import {
  completeManifest,
  registerPending,
  writeManifest,
} from '../../../shared/runtime/checkpoint/take-manifest.ts';
import { abortHold } from '../../../shared/runtime/restore/hold.ts';
import { restoreJob } from '../../../shared/runtime/restore/restore-job.ts';
import type { RestoreOrder } from '../../../shared/runtime/restore/restore-order.ts';
import { chance, createGate, pick } from '../engine/gate.ts';
import { keyGroups } from '../engine/job.ts';
import { createEnvironment, type Environment } from '../data-path/deployment.ts';
import { auditRestored, auditUnswept } from './audit-restore.ts';
import { drawRestorePlan, type Act, type RestorePlan } from './draw-plan.ts';
import { gateRestorePorts } from './gated-restore.ts';
import { createProcesses, noAnswer, type Process } from '../engine/processes.ts';
import { calmDown, sweepAll } from './calm-world.ts';
import { createRestoreWorld, deliver, visit, type RestoreWorld } from './restore-world.ts';

export interface RestoreRun {
  readonly findings: readonly string[];
  readonly trace: readonly string[];
  readonly kills: number;
  readonly sleeps: number;
  readonly restores: number;
  readonly flips: number;
  readonly aborts: number;
}

/** One shard as the event source mapping sees it. */
interface Poller {
  readonly shardId: string;
  done: number;
  current: Process | undefined;
}

/** A restore as whoever has ordered it sees it: it is begun again until it is over. */
interface Driver {
  readonly order: RestoreOrder;
  readonly flavour: string;
  current: Process | undefined;
  isOver: boolean;
  tries: number;
}

const flavours = 'ABCDEFGHIJ';
const triesMax = 40;
/** Visits of one restore that come to nothing in a row: its process is then taken for hopeless. */
const futileVisitsMax = 12;
const minute = { remainingMs: () => 60_000 };
const noFaults = () => 'none' as const;

/**
 * One run from a seed: a stream that goes on and is resharded, checkpoints, and restores, with processes that die, or sleep
 * and go on when nobody expects it, with refused writes and lost replies, under every order of steps that the seed picks.
 */
export async function runRestoresRandomly(seed: string): Promise<RestoreRun> {
  const random = seededRandom(seed);
  const plan = drawRestorePlan(random);
  const world = await createRestoreWorld({ seed, ...plan });
  const run = createRun(world, plan, random);
  const { gate, processes } = run;
  await gate.drain(
    (labels) => {
      run.goOn(false);
      return processes.choose(labels, () => run.goOn(true));
    },
    () => world.findings.length === 0 && run.goOn(true),
  );
  const findings = [...world.findings];
  if (findings.length === 0) {
    await calmDown(world);
    findings.push(...(await auditUnswept(world)));
    await sweepAll(world);
    findings.push(...world.findings.slice(findings.length), ...(await auditRestored(world)));
  }
  const { kills, sleeps } = processes.totals;
  const flips = world.present().timeline.length;
  return { findings, trace: gate.trace, kills, sleeps, flips, ...run.totals };
}

function createRun(world: RestoreWorld, plan: RestorePlan, random: RandomSource) {
  const gate = createGate();
  const processes = createProcesses(random, plan);
  const pollers = new Map<string, Poller>();
  const drivers: Driver[] = [];
  const checkpoints = new Set<Process>();
  const acts = [...plan.acts];
  const busy = new Set<Environment>();
  const totals = { restores: 0, aborts: 0, invocations: 0 };
  let flavour = '';
  let environments: Environment[] = [];
  /** Awaits that are behind no gate. */
  let thinking = 0;
  const deploy = (next: string): void => {
    flavour = next;
    environments = Array.from({ length: plan.environments }, (_, at) =>
      createEnvironment(`e${at}${next}`, next),
    );
  };
  deploy('');

  const draw = () => {
    if (!chance(random, plan.faultProbability)) return 'none';
    return chance(random, 0.5) ? 'refused' : 'reply-lost';
  };
  const think = async (effect: () => Promise<void>): Promise<void> => {
    thinking += 1;
    await effect().catch((error: unknown) => world.findings.push(`threw ${String(error)}`));
    thinking -= 1;
  };
  const unexpected = (who: string, error: unknown): void => {
    const isExpected =
      isHoldfastError(error, 'unavailable') ||
      isHoldfastError(error, 'conflict') ||
      isHoldfastError(error, 'fenced') ||
      // A comparison beside a twin that has flipped already and replays.
      (isHoldfastError(error, 'corrupt') && /is not what its manifest says/.test(error.message));
    if (!isExpected) world.findings.push(`${who} threw ${String(error)}`);
  };

  const pollerOf = (shardId: string): Poller => {
    const known = pollers.get(shardId) ?? { shardId, done: 0, current: undefined };
    pollers.set(shardId, known);
    return known;
  };
  const unread = (): Poller[] =>
    world.stream
      .shards()
      .map(({ shardId }) => pollerOf(shardId))
      .filter(({ shardId, done }) => done < world.stream.shard(shardId).records.length);

  const startDelivery = (poller: Poller): boolean => {
    const idle = environments.filter((environment) => !busy.has(environment));
    const environment = idle[pick(random, idle.length)];
    if (environment === undefined) return false;
    const { records } = world.stream.shard(poller.shardId);
    const from = poller.done - (chance(random, 0.3) ? pick(random, poller.done + 1) : 0);
    const to = poller.done + 1 + pick(random, records.length - poller.done);
    totals.invocations += 1;
    const process = processes.begin('#', () => {
      // It is not used again; whoever sleeps keeps it for itself.
      environments = environments.map((one) =>
        one === environment ? createEnvironment(`${one.name}'`, one.flavour) : one,
      );
      if (poller.current === process) poller.current = undefined;
    });
    poller.current = process;
    busy.add(environment);
    let looks = chance(random, 0.1) ? 1 + pick(random, 6) : Number.POSITIVE_INFINITY;
    const options = {
      ...{ shardId: poller.shardId, records: records.slice(from, to), draw },
      unitRecordsMax: 1 + pick(random, 4),
      remainingMs: () => (looks-- > 0 ? 60_000 : 0),
    };
    deliver(world, gate, process.owner, environment, options)
      .then((outcome) => {
        if (poller.current !== process) return;
        const at =
          outcome.kind === 'done'
            ? to
            : records.findIndex(({ sequence }) => sequence === outcome.fromSequence);
        poller.done = Math.max(poller.done, at);
      })
      .catch((error: unknown) => unexpected(process.owner.name, error))
      .finally(() => {
        processes.end(process);
        busy.delete(environment);
        if (poller.current === process) poller.current = undefined;
      });
    return true;
  };

  const startCheckpoint = (isSavepoint = false): void => {
    const process = processes.begin('C', () => void checkpoints.delete(process));
    checkpoints.add(process);
    const ports = gateRestorePorts(world, gate, process.owner, draw, noVisits);
    const { generation } = world.present();
    const facts = {
      maxParallelism: keyGroups,
      operators: [describeOperator(world.operator)],
      note: '',
      tags: {},
    };
    const save = async (): Promise<void> => {
      const label = process.owner.name;
      const pending = await beginSavepoint(ports, { label, execution: label });
      await cutSavepoint(ports, pending, facts);
      const merged = await runCompaction(ports, pending.number, minute);
      await completeSavepoint(ports, pending, merged.runs!);
    };
    const take = async (): Promise<void> => {
      const request = { kind: 'checkpoint', generation, label: '', timeoutMs: 1e12 } as const;
      const pending = await registerPending(ports, request);
      const manifest = await writeManifest(ports, pending, facts);
      await completeManifest(ports, pending, manifest);
    };
    (isSavepoint ? save() : take())
      .catch((error: unknown) => unexpected(process.owner.name, error))
      .finally(() => {
        processes.end(process);
        checkpoints.delete(process);
      });
  };

  const orderRestore = (): Promise<void> =>
    think(async () => {
      const complete = (await world.control.readRegistry('model'))?.complete ?? [];
      // Going back to one and the same place again and again is what undoing leads to.
      const undo = complete.findLast(({ kind, generation }) => kind === 'undo' && generation === 1);
      const any = chance(random, 0.2) ? complete.at(-1) : complete[pick(random, complete.length)];
      const chosen = undo !== undefined && chance(random, 0.3) ? undo : any;
      if (chosen === undefined) {
        // The checkpoint before it has died, or is not complete yet.
        acts.unshift({ kind: 'restore' });
        if (checkpoints.size === 0) startCheckpoint();
        return;
      }
      totals.restores += 1;
      deploy(flavours[totals.restores - 1]!);
      const order = {
        ...{ restore: `r${totals.restores}`, manifest: chosen.object },
        ...{ allowNonRestoredState: false, acceptsGaps: false, areTablesLost: false },
      };
      drivers.push({ order, flavour, current: undefined, isOver: false, tries: 0 });
    });

  const startRestore = (driver: Driver): void => {
    driver.tries += 1;
    if (driver.tries > triesMax) {
      world.findings.push(`restore ${driver.order.restore} does not come to its end`);
      return;
    }
    const isCalm = driver.tries > triesMax / 2;
    const process = processes.begin(`${driver.order.restore}.`, () => {
      if (driver.current === process) driver.current = undefined;
    });
    driver.current = process;
    let futile = 0;
    const visits: OperatorCalls['visit'] = (_, order) =>
      new Promise((resolve, reject) => {
        const called = processes.begin('V', () => reject(noAnswer('the operator')));
        const options = {
          order,
          draw: isCalm ? noFaults : draw,
          unitRecordsMax: 1 + pick(random, 4),
        };
        visit(world, gate, called.owner, flavour, options)
          .then((report) => {
            futile = report.isThere || report.records > 0 ? 0 : futile + 1;
            if (futile > futileVisitsMax) processes.kill(process);
            else resolve(report);
          }, reject)
          .finally(() => processes.end(called));
      });
    const ports = gateRestorePorts(world, gate, process.owner, isCalm ? noFaults : draw, visits);
    restoreJob(ports, driver.order)
      .then(
        () => {
          if (driver.current === process) driver.isOver = true;
        },
        (error: unknown) => {
          unexpected(process.owner.name, error);
          if (driver.current === process) afterFailure(driver);
        },
      )
      .finally(() => {
        processes.end(process);
        if (driver.current === process) driver.current = undefined;
      });
  };

  /** Whoever has ordered a restore that failed orders it again, or lets it be, which is an abort where it can be one. */
  const afterFailure = (driver: Driver): void => {
    const { hold } = world.present();
    const isMine = hold?.owner === driver.order.restore;
    if (chance(random, 0.6) || (isMine && hold.isFlipped)) return;
    driver.isOver = true;
    if (isMine) startAbort(hold.id);
  };

  const startAbort = (holdId: string): void => {
    totals.aborts += 1;
    const process = processes.begin('A', () => undefined);
    const ports = gateRestorePorts(world, gate, process.owner, draw, noVisits);
    abortHold(ports, holdId)
      .catch((error: unknown) => unexpected(process.owner.name, error))
      .finally(() => processes.end(process));
  };

  const act = (one: Act): void => {
    switch (one.kind) {
      case 'put':
        world.put(one.account, one.message);
        break;
      case 'split': {
        const open = world.stream.shards().filter(({ isClosed }) => !isClosed);
        world.stream.split(open[pick(random, open.length)]!.shardId);
        break;
      }
      case 'merge': {
        const open = world.stream.shards().filter(({ isClosed }) => !isClosed);
        const ordered = open.sort((a, b) => (a.range.from < b.range.from ? -1 : 1));
        if (ordered.length < 2) break;
        const at = pick(random, ordered.length - 1);
        world.stream.merge(ordered[at]!.shardId, ordered[at + 1]!.shardId);
        break;
      }
      case 'checkpoint':
      case 'savepoint':
        startCheckpoint(one.kind === 'savepoint');
        break;
      case 'restore':
        void orderRestore();
        break;
    }
  };

  /** The mapping is made anew while everything is fenced, and begins wherever it likes (R7). */
  const maybeJump = (): void => {
    if (world.present().hold?.undo === undefined || !chance(random, plan.jumpProbability)) return;
    // It takes a while, so that nothing is warm any more.
    environments = environments.map(({ name, flavour: own }) => createEnvironment(`${name}'`, own));
    for (const poller of unread()) {
      const { records } = world.stream.shard(poller.shardId);
      poller.done += pick(random, records.length - poller.done + 1);
    }
  };

  /** Begins what may begin now, or by chance; true where anything was, or is about to be. */
  const goOn = (mustBegin: boolean): boolean => {
    if (world.findings.length > 0) return false;
    let hasBegun = thinking > 0;
    const may = (probability: number): boolean => mustBegin || chance(random, probability);
    maybeJump();
    if (acts.length > 0 && may(plan.actProbability)) {
      act(acts.shift()!);
      hasBegun = true;
    }
    for (const driver of drivers) {
      if (driver.isOver || driver.current !== undefined || !may(0.1)) continue;
      startRestore(driver);
      hasBegun = true;
    }
    const { hold } = world.present();
    // Somebody loses patience.
    if (hold?.isFlipped === false && chance(random, plan.abortProbability)) startAbort(hold.id);
    const owner = drivers.find(({ order }) => order.restore === hold?.owner);
    // Given back to, or taken by a late twin of, a restore that nobody looks after any more.
    if (owner?.isOver === true && mustBegin) {
      owner.isOver = false;
      hasBegun = true;
    }
    for (const poller of unread()) {
      const isIdle = poller.current === undefined;
      const isHeld = hold !== undefined;
      // A held job hands back all the same: so that a run comes to its end, that is not all that it does.
      if (
        !(isIdle
          ? (!isHeld && mustBegin) || chance(random, isHeld ? 0.02 : 0.3)
          : chance(random, plan.overlapProbability))
      ) {
        continue;
      }
      if (startDelivery(poller)) hasBegun = true;
    }
    return hasBegun;
  };

  return { gate, processes, goOn, totals };
}

const noVisits: OperatorCalls['visit'] = () => Promise.reject(noAnswer('nobody'));
