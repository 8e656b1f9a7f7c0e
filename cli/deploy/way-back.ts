import type { ConnectionFlags } from '../connection-flags.ts';

/** How to undo a deployment, with commands that can be pasted one after the other. */
export interface WayBack {
  /**
   * - `nothing`: nothing was changed
   * - `code`: deploying the old code is enough, for the new one has committed nothing
   * - `restore`: what was written must be undone, too
   * - `none`: there is nothing to go back to
   */
  readonly kind: 'nothing' | 'code' | 'restore' | 'none';
  readonly why: string;
  readonly commands: readonly string[];
}

export interface WayBackFacts {
  /** What the deployed templates were before; undefined for a first deployment. */
  readonly previous: { readonly stack: string; readonly folder: string } | undefined;
  /** Undefined where none was made. */
  readonly savepoint: string | undefined;
  /** A unit was committed or a record given up since the deployment began. */
  readonly hasMoved: boolean;
  /** The code of before is in place: CloudFormation has gone back by itself, or never begun. */
  readonly isCodeBack: boolean;
  /** How long invocations of the new code may still be at work, ms. */
  readonly settleMs: number;
  readonly cdk: string;
  readonly workflowFunction: string;
  readonly restoreWorkflow: string;
  readonly connection: Omit<ConnectionFlags, 'json'>;
}

export function findWayBack(facts: WayBackFacts): WayBack {
  const { previous, savepoint, hasMoved, isCodeBack, settleMs } = facts;
  if (previous === undefined) {
    return {
      kind: 'none',
      why: 'this was the first deployment of the job: there is nothing to go back to',
      commands: [],
    };
  }
  const deploy = isCodeBack ? [] : [deployCommand(facts, previous)];
  if (!hasMoved) {
    return isCodeBack
      ? { kind: 'nothing', why: 'the job is as it was', commands: [] }
      : {
          kind: 'code',
          why: `nothing was committed since the deployment began: the old code is all it takes${
            savepoint === undefined
              ? ''
              : `, unless the new one commits something meanwhile; then: ${restoreCommand(facts, savepoint)}`
          }`,
          commands: deploy,
        };
  }
  if (savepoint === undefined) {
    return {
      kind: 'restore',
      why: 'units were committed since the deployment began, and no savepoint was made before it: deploy the old code, choose a checkpoint of before (holdfast checkpoint list) and restore it',
      commands: deploy,
    };
  }
  return {
    kind: 'restore',
    why: isCodeBack
      ? 'units were committed since the deployment began, which of them by the new code cannot be told: restore the savepoint if rows or state look wrong'
      : 'units were committed since the deployment began: the restore undoes what the new code has written, and processes the records again',
    commands: [
      ...deploy,
      // The old generation's latecomers must not read on with the new code after the restore.
      ...(settleMs > 0 ? [`sleep ${Math.ceil(settleMs / 1_000)}`] : []),
      restoreCommand(facts, savepoint),
    ],
  };
}

function deployCommand(
  { cdk }: WayBackFacts,
  { stack, folder }: NonNullable<WayBackFacts['previous']>,
): string {
  return [cdk, ...previousDeployArguments(stack, folder).map(quote)].join(' ');
}

/** Of cdk, to deploy what was deployed before. */
export function previousDeployArguments(stack: string, folder: string): string[] {
  return ['deploy', stack, '--app', folder, '--require-approval', 'never'];
}

function restoreCommand(
  { workflowFunction, restoreWorkflow, connection }: WayBackFacts,
  savepoint: string,
): string {
  const { region, profile, endpointUrl } = connection;
  const flags = [
    ['--workflow-function', workflowFunction],
    ['--restore-workflow', restoreWorkflow],
    ['--region', region],
    ['--profile', profile],
    ['--endpoint-url', endpointUrl],
  ] as const;
  const given = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quote(value)]));
  return ['npx holdfast restore', savepoint, ...given].join(' ');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w./:=@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
