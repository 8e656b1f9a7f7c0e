import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from '../engine/gate.ts';
import {
  createProducer,
  drawCut,
  drawSystemPlan,
  type Act,
  type ActKind,
  type SystemPlan,
} from '../system/draw-plan.ts';

/** What a run of two jobs draws for itself. */
export interface ClonePlan {
  /** Of the job that is cloned, with all that befalls the stream. */
  readonly first: SystemPlan;
  /** Of the clone, once it has begun. */
  readonly twin: SystemPlan;
  /** Clones are ordered when this many acts of the first job are left, or fewer. */
  readonly orderedAt: number;
  /** Orders that somebody gives without waiting for those before. */
  readonly orders: number;
  /** The first job may be gone, with all that it has, once the clone runs. */
  readonly losesFirst: boolean;
}

/** Calls at which a clone dies or fails that no other run makes. */
const focuses = [
  'cloned.registry.write',
  'cloned.registry.write',
  'cloned.registry.read',
  'cloned.object.read',
  'cloned.object.start',
  'progress.create',
  'job.replace',
];

export function drawClonePlan(random: RandomSource): ClonePlan {
  const drawn = drawSystemPlan(random);
  const focus = chance(random, 0.5) ? focuses[pick(random, focuses.length)]! : drawn.focus;
  const first = { ...drawn, ...(focus === undefined ? {} : { focus }) };
  return {
    first,
    twin: { ...first, acts: drawTwinActs(first, random) },
    orderedAt: pick(random, first.acts.length),
    orders: chance(random, 0.3) ? 2 : 1,
    losesFirst: chance(random, 0.3),
  };
}

/** The clone is a job like any other: its stream goes on, it makes cuts, and goes back to them. */
function drawTwinActs({ acts, hasOtherLogic }: SystemPlan, random: RandomSource): Act[] {
  const records = acts.filter(({ kind }) => kind === 'put').length;
  const habits = { keys: 1 + pick(random, 4), isHot: false, timers: chance(random, 0.3) };
  const { puts } = createProducer({ ...habits, hasOtherLogic }, random, records);
  const others: ActKind[] = ['tick', 'collect', 'tidy', 'drill', 'deploy', 'split or merge'];
  const twin: Act[] = [];
  // What looks after a job finds one that has not begun, and leaves it alone.
  if (chance(random, 0.4)) twin.push({ kind: 'tick' });
  if (chance(random, 0.2)) twin.push({ kind: 'collect' });
  const moves = pick(random, 4);
  for (let at = 0; at < moves; at += 1) {
    twin.push(...puts(4), drawCut(random));
    if (chance(random, 0.4)) twin.push({ kind: others[pick(random, others.length)]! } as Act);
    if (chance(random, 0.5)) {
      twin.push({ kind: chance(random, 0.85) ? 'restore' : 'restore to a time' });
    }
  }
  if (chance(random, 0.1)) twin.push({ kind: 'lose tables' });
  return [...twin, ...puts(3), { kind: 'tick' }];
}
