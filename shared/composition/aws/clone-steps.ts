import type * as z from 'zod';
import { HoldfastError } from '../../core/errors.ts';
import { isCloneOrder, type CloneOrder } from '../../runtime/restore/check-clone.ts';
import { beginCopy, finishCopy, runCopy } from '../../runtime/restore/copy-manifest.ts';
import type { RestoreOrder } from '../../runtime/restore/restore-order.ts';
import { validateClone } from '../../runtime/restore/validate-clone.ts';
import { copy, restoreOrder } from './restore-steps-schema.ts';
import { refuseEndless } from './savepoint-steps.ts';
import { defineStep, nothing, type Step } from './workflow-step.ts';

/* R12: what a clone does before it is a restore like any other, from a manifest of its own. */

type CloneStep = 'clone.validate' | 'clone.begin' | 'clone.copy' | 'clone.finish';

export const cloneSteps: Readonly<Record<CloneStep, Step>> = {
  'clone.validate': defineStep({ order: restoreOrder }, nothing, async ({ order }, ports) => {
    await validateClone(ports, requireClone(order));
    return {};
  }),

  'clone.begin': defineStep({ order: restoreOrder }, copy, async ({ order }, ports) => {
    const number = await beginCopy(ports, requireClone(order));
    const isDone = number === undefined;
    return { number: number ?? 0, isDone, doneBytes: 0, totalBytes: 0, rounds: 0 };
  }),

  'clone.copy': defineStep(
    { order: restoreOrder, copy },
    copy,
    async ({ order, copy: before }, ports, deadline) => {
      refuseEndless(before.rounds, `the copy for clone ${order.restore}`);
      const next = { ...before, rounds: before.rounds + 1 };
      if (before.isDone) return next;
      const { isDone, doneBytes, totalBytes } = await runCopy(ports, before.number, deadline);
      return { ...next, isDone, doneBytes, totalBytes };
    },
  ),

  'clone.finish': defineStep(
    { order: restoreOrder, copy },
    restoreOrder,
    async ({ order, copy: { number } }, ports) => ({
      ...order,
      manifest: await finishCopy(ports, requireClone(order), number === 0 ? undefined : number),
    }),
  ),
};

function requireClone(order: RestoreOrder & z.output<typeof restoreOrder>): CloneOrder {
  if (isCloneOrder(order)) return order;
  throw new HoldfastError(
    'internal',
    `restore ${order.restore} is no clone; deploy workflows and function together`,
  );
}
