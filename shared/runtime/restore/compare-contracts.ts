import type { Manifest, OperatorContract } from '../../core/manifest.ts';
import type { DroppedState } from '../../core/reservation.ts';

/** Something that a restore would lose or cannot read, and what to do about it. */
export interface ContractDifference {
  readonly text: string;
  readonly remedy: string;
  /** `allowNonRestoredState` lets it pass: state is left behind, or rows of a sink that is gone. */
  readonly isLoss: boolean;
  /** The state that is left behind then. */
  readonly loss?: DroppedState;
}

/** Law 10: all differences between what a manifest holds and what the deployed code declares, not only the first. */
export function compareContracts(
  manifest: Pick<Manifest, 'operators' | 'maxParallelism'>,
  deployed: { readonly maxParallelism: number; readonly operators: readonly OperatorContract[] },
): ContractDifference[] {
  const differences: ContractDifference[] = [];
  const refuse = (text: string, remedy: string, loss?: DroppedState): void => {
    const isLoss = loss !== undefined;
    differences.push({ text, remedy, isLoss, ...(isLoss ? { loss } : {}) });
  };
  if (manifest.maxParallelism !== deployed.maxParallelism) {
    refuse(
      `the manifest has maxParallelism ${manifest.maxParallelism}, the job has ${deployed.maxParallelism}`,
      `deploy maxParallelism ${manifest.maxParallelism}; it is fixed for the life of a job`,
    );
  }
  for (const held of manifest.operators) {
    const code = deployed.operators.find(({ id }) => id === held.id);
    if (code === undefined) {
      const states = held.states.map(({ name }) => name).join(', ');
      refuse(
        `operator ${held.id} is gone, with its states ${states === '' ? '(none)' : states}`,
        'deploy an operator with this id, or allow non-restored state',
        { operator: held.id, state: undefined },
      );
      continue;
    }
    for (const state of held.states) {
      const now = code.states.find(({ name }) => name === state.name);
      const what = `state ${JSON.stringify(state.name)} of operator ${held.id}`;
      if (now === undefined) {
        refuse(`${what} is gone`, 'declare it again, or allow non-restored state', {
          operator: held.id,
          state: state.name,
        });
      } else if (now.kind !== state.kind) {
        refuse(
          `${what} was a ${state.kind} state and is a ${now.kind} state`,
          'give the new one another name',
        );
      } else if (state.version > now.version) {
        refuse(
          `${what} has schema version ${state.version}, the code reads up to ${now.version}`,
          'deploy the code that wrote it, or newer',
        );
      }
    }
    for (const sink of held.sinks) {
      const now = code.sinks.find(({ name }) => name === sink.name);
      const what = `sink ${JSON.stringify(sink.name)} of operator ${held.id}`;
      if (now === undefined) {
        differences.push({
          text: `${what} is gone, so that its void rows would stay and none be brought back`,
          remedy: 'deploy it again, or allow non-restored state',
          isLoss: true,
        });
      } else if (now.kind !== sink.kind) {
        refuse(
          `${what} was an ${sink.kind} sink and is an ${now.kind} sink`,
          'give the new one another name',
        );
      }
    }
  }
  return differences;
}
