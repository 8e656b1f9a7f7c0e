import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { valueState } from '../../../shared/operator/state.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';

it('drives an operator whose events are not JSON', () => {
  const operator = defineOperator({
    id: 'csv',
    schema: z.object({ user: z.string(), amount: z.number() }),
    key: (event) => event.user,
    decode: (data) => {
      const [user, amount] = new TextDecoder().decode(data).split(',');
      return { user, amount: Number(amount) };
    },
    state: { total: valueState<number>() },
    process: (event, ctx) => ctx.state.total.set(event.amount),
  });
  const driver = createOperatorDriver(operator);
  driver.send(new TextEncoder().encode('ann,5'));
  expect(driver.stateOf('ann')).toEqual({ total: 5 });
});
