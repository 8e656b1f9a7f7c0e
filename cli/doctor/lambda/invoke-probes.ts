import { randomUUID } from 'node:crypto';
import { firstDifference, type Probe } from '../finding.ts';
import { invoke, type Witness } from './create-witness.ts';

interface WitnessBed {
  readonly witness: Witness;
}

const answers: Probe<WitnessBed> = {
  capability: 'a function answers who invokes it',
  need: { kind: 'needed', text: 'savepoints, restores' },
  run: async ({ witness }) => {
    const value = { text: 'é😀', list: [1, null] };
    const { payload, error } = await invoke(witness, { order: 'answer', value });
    const [expected, got] = [JSON.stringify(value), JSON.stringify(payload) ?? ''];
    return firstDifference([error === undefined && got === expected, expected, got]);
  },
};

const errorNames: Probe<WitnessBed> = {
  capability: 'errors of a function have their names',
  need: { kind: 'adapted', text: 'the command line then takes every refusal for an outage' },
  run: async ({ witness }) => {
    const { error = 'none' } = await invoke(witness, {
      ...{ order: 'fail', id: randomUUID(), error: 'Holdfast.invalid', times: 1 },
    });
    return firstDifference([error === 'Holdfast.invalid', 'an error Holdfast.invalid', error]);
  },
};

const reach: Probe<WitnessBed> = {
  capability: 'a function finds the other services',
  need: { kind: 'needed', text: 'the endpoint has to be in the environment of functions' },
  run: async ({ witness }) => {
    const { error, payload } = await invoke(witness, { order: 'write', id: randomUUID() });
    return firstDifference([error === undefined, 'an item written', JSON.stringify(payload)]);
  },
};

/** Functions that are invoked by hand, as the command line and workflows do it. */
export const invokeProbes = [answers, errorNames, reach];
