import { describe, expect, it } from 'vitest';
import { splitArguments } from '../../../../cli/deploy/deploy-command.ts';
import { listExpired, nameSavepoint } from '../../../../cli/deploy/deploy-savepoints.ts';
import { findWayBack, type WayBackFacts } from '../../../../cli/deploy/way-back.ts';
import type { ManifestReference } from '../../../../shared/core/registry.ts';

const facts: WayBackFacts = {
  previous: { stack: 'Orders', folder: 'cdk.out/before-deploy-1' },
  savepoint: 'deploy-1',
  hasMoved: true,
  isCodeBack: false,
  settleMs: 59_500,
  cdk: 'npx cdk',
  workflowFunction: 'Orders-Steps',
  restoreWorkflow: 'arn:aws:states:eu-west-1:1:stateMachine:Restores',
  connection: { region: 'eu-west-1', profile: "it's mine" },
};

const deploy = 'npx cdk deploy Orders --app cdk.out/before-deploy-1 --require-approval never';
const restore =
  "npx holdfast restore deploy-1 --workflow-function Orders-Steps --restore-workflow arn:aws:states:eu-west-1:1:stateMachine:Restores --region eu-west-1 --profile 'it'\\''s mine'";

describe('the way back', () => {
  it('is the old code, a wait for what is under way, and a restore, with all names filled in', () => {
    expect(findWayBack(facts)).toMatchObject({
      kind: 'restore',
      commands: [deploy, 'sleep 60', restore],
    });
  });

  it('is the old code alone where nothing was committed', () => {
    const back = findWayBack({ ...facts, hasMoved: false });
    expect(back).toMatchObject({ kind: 'code', commands: [deploy] });
    expect(back.why).toContain(`unless the new one commits something meanwhile; then: ${restore}`);
  });

  it('is the restore alone where CloudFormation has gone back by itself', () => {
    const back = findWayBack({ ...facts, isCodeBack: true });
    expect(back).toMatchObject({ kind: 'restore', commands: ['sleep 60', restore] });
    expect(back.why).toContain('cannot be told');
    const nothing = findWayBack({ ...facts, isCodeBack: true, hasMoved: false });
    expect(nothing).toMatchObject({ kind: 'nothing', commands: [] });
  });

  it('says what is missing where no savepoint was made, and where there was nothing before', () => {
    const unsaved = findWayBack({ ...facts, savepoint: undefined });
    expect(unsaved).toMatchObject({ kind: 'restore', commands: [deploy] });
    expect(unsaved.why).toContain('no savepoint was made');
    expect(findWayBack({ ...facts, previous: undefined })).toMatchObject({
      kind: 'none',
      commands: [],
    });
  });
});

describe('savepoints of deployments', () => {
  const made = (label: string, kind: ManifestReference['kind'] = 'savepoint') =>
    ({ kind, label }) as ManifestReference;

  it('are named by the second', () => {
    expect(nameSavepoint(Date.UTC(2026, 10, 30, 2, 40, 5, 7))).toBe('deploy-2026-11-30T02-40-05Z');
  });

  it('go but for the newest, and no other savepoint does', () => {
    const names = [1, 2, 3].map((day) => nameSavepoint(Date.UTC(2026, 0, day)));
    const all = [
      made('deploy-by-hand'),
      ...names.map((name) => made(name)),
      made('', 'checkpoint'),
    ];
    expect(listExpired(all, 1)).toEqual(names.slice(0, 2));
    expect(listExpired(all, 0)).toEqual(names);
    expect(listExpired(all, 5)).toEqual([]);
  });
});

describe('arguments of the command', () => {
  it('are for cdk after --, whether a stack is named or not', () => {
    const argv = ['node', 'holdfast', 'deploy', '--yes', '--', '--outputs-file', 'x'];
    expect(splitArguments(['--outputs-file', 'x'], argv)).toEqual([[], ['--outputs-file', 'x']]);
    const named = ['node', 'holdfast', 'deploy', 'Orders', '--', '-v'];
    expect(splitArguments(['Orders', '-v'], named)).toEqual([['Orders'], ['-v']]);
    expect(splitArguments(['Orders'], ['node', 'holdfast', 'deploy', 'Orders'])).toEqual([
      ['Orders'],
      [],
    ]);
  });
});
