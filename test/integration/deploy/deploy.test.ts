import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { computePlainly } from '../../../cli/demo/plain-computation.ts';
import type { JobDescription } from '../../../shared/composition/aws/request-steps.ts';
import { startFlightsAws, type FlightsAws } from '../rollback/flights-aws.ts';
import { compareWith } from '../rollback/sink-view.ts';
import { path, setDeployStage, type DeployStage } from './deploy-stage.ts';

const badHandler = path('./bad-handler.ts');
const changedStateHandler = path('./changed-state-handler.ts');
const firstHandler = path('../../../functions/flight-delays/handler.ts');

let flights: FlightsAws;
let stage: DeployStage;

beforeAll(async () => {
  flights = await startFlightsAws({ flights: 1_800 });
  stage = await setDeployStage(flights);
});

afterAll(async () => {
  await stage?.stop();
  await flights?.stop();
});

// On a machine that has much else to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

async function listSavepoints(): Promise<string[]> {
  const listed = await flights.ask('savepoint', 'list');
  return (listed as unknown as JobDescription['manifests']).map(({ label }) => label);
}

/** How many flights the new code gets at most: there must be some left for the next test. */
const flightsForNewCode = 200;

/** Puts flights until the command has ended: a few before it deploys, so that some are under way, and many after it. */
async function feedDuring<Result>(ending: Promise<Result>): Promise<Result> {
  const deploys = stage.cloudFormation.deploys.length;
  let isOver = false;
  let left = flightsForNewCode;
  const over = ending.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 500))]);
    const isDeployed = stage.cloudFormation.deploys.length > deploys;
    if (!isDeployed) await flights.put(1);
    else if (left > 0) await flights.put(10);
    if (isDeployed) left -= 10;
  }
  return over;
}

describe('holdfast deploy on the embedded AWS', () => {
  it('refuses code that cannot go on with the stored state, and resources that would be lost, all at once', async () => {
    await flights.put(300);
    await flights.whenDone();
    await flights.ask('checkpoint', 'trigger');
    const folder = stage.assemble(changedStateHandler, ({ Resources }) => {
      for (const [id, { Type, Properties }] of Object.entries(Resources)) {
        if (id.startsWith('JobSinkalerts')) delete Resources[id];
        if (Type === 'Custom::HoldfastJob') Properties['MaxParallelism'] = 16;
      }
    });
    const { code, report } = await stage.deploy(folder);
    expect(code).toBe(1);
    expect(report).toMatchObject({ outcome: 'refused', savepoint: null, job: 'flight-delays' });
    expect(report!.reasons).toEqual([
      expect.stringContaining('has maxParallelism 8, the code asks for 16'),
      expect.stringMatching(
        /JobSinkalerts\w+ would leave the stack.*--allow-removal JobSinkalerts/,
      ),
      expect.stringContaining('state "flights" of operator flight-delays is gone'),
    ]);
    expect(stage.cloudFormation.deploys).toEqual([]);
    expect(await listSavepoints()).toEqual([]);
  });

  it('deploys what goes on with the state, makes a savepoint, and sees the first units', async () => {
    const folder = stage.assemble(firstHandler);
    const { code, report, err } = await feedDuring(
      stage.deploy(folder, '--', '--outputs-file', 'x'),
    );
    expect(code, err).toBe(0);
    expect(report).toMatchObject({ outcome: 'deployed', reasons: [], wayBack: null });
    expect(report!.savepoint).toMatch(/^deploy-2/);
    expect(report!.channels!.committed).toBeGreaterThan(0);
    const [args] = stage.cloudFormation.deploys;
    expect(args!.slice(-4)).toEqual(['--require-approval', 'never', '--outputs-file', 'x']);
    expect(err).toContain('fake cdk: deploy Flights');
    expect(await listSavepoints()).toEqual([report!.savepoint]);
  });

  it('keeps as many savepoints of deployments as it is told, on a stream in which nothing arrives', async () => {
    await flights.whenDone();
    const [first] = await listSavepoints();
    const folder = stage.assemble(firstHandler);
    const { code, report, err } = await stage.deploy(folder, '--keep-savepoints', '1');
    expect(code, err).toBe(0);
    expect(report).toMatchObject({
      channels: { committed: 0, quiet: 2 },
      deletedSavepoints: [first],
    });
    expect(await listSavepoints()).toEqual([report!.savepoint]);
  });

  it('tells commands that undo a deployment, which do when they are run', async () => {
    const { code, report, err } = await feedDuring(stage.deploy(stage.assemble(badHandler)));
    expect(code, err).toBe(1);
    expect(report!.reasons).toEqual([expect.stringContaining('not from there today')]);
    expect(report).toMatchObject({ outcome: 'trouble', wayBack: { kind: 'restore' } });
    expect(stage.deployedCode()).toBe(badHandler);
    const [deploy, pause, restore] = report!.wayBack!.commands as [string, string, string];
    expect(pause).toBe('sleep 1');
    for (const command of report!.wayBack!.commands) expect(err).toContain(`\n  ${command}`);
    // What the stand-in for cdk is told reaches it as a shell would pass it.
    const folder = deploy.split(' ')[deploy.split(' ').indexOf('--app') + 1]!;
    expect(await stage.cloudFormation.onDeploy(join(stage.cwd, folder), [])).toBe(0);
    expect(stage.deployedCode()).toBe(firstHandler);
    const words = restore.split(' ');
    expect(words.slice(0, 2)).toEqual(['npx', 'holdfast']);
    const run = stage.start(...words.slice(2), '--yes', '--json');
    expect(await run.ended, run.printed.err).toBe(0);
    expect(JSON.parse(run.printed.out)).toMatchObject({ generation: 2, unswept: [] });
  });

  it('undoes a deployment by itself: state and rows are as if it had never been', async () => {
    const folder = stage.assemble(badHandler);
    const { code, report, err } = await feedDuring(stage.deploy(folder, '--auto-rollback'));
    expect(code, err).toBe(1);
    expect(report).toMatchObject({
      outcome: 'rolled-back',
      wayBack: { kind: 'restore', commands: [] },
    });
    expect(stage.deployedCode()).toBe(firstHandler);
    await flights.finish();
    const all = flights.puts.map(({ flight }) => flight);
    expect(all).toHaveLength(1_800);
    expect((await compareWith(flights, computePlainly(all))).differences).toEqual([]);
  });

  it('passes Ctrl-C on to cdk, and tells the way back', async () => {
    const before = readdirSync(stage.cwd).length;
    const told = new Promise<void>((resolve) => {
      const deployNow = stage.cloudFormation.onDeploy;
      stage.cloudFormation.onDeploy = () => {
        stage.cloudFormation.onDeploy = deployNow;
        resolve();
        return new Promise(() => undefined);
      };
    });
    const folder = stage.assemble(firstHandler);
    const cdk = `${process.execPath} ${path('./fake-cdk.ts')}`;
    const run = stage.start('deploy', '--app', folder, '--cdk', cdk, '--yes', '--no-savepoint');
    await told;
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(run.printed.err).toContain('deploy was stopped by SIGINT');
    expect(run.printed.err).toContain('The way back: ');
    expect(run.printed.out).toBe('');
    expect(readdirSync(stage.cwd)).toHaveLength(before + 1);
  });

  it('deploys a first time without anything to save', async () => {
    const deploys = stage.cloudFormation.deploys.length;
    const deployNow = stage.cloudFormation.onDeploy;
    const there = stage.cloudFormation.stack;
    stage.cloudFormation.stack = undefined;
    stage.cloudFormation.onDeploy = async (folder, args) => {
      stage.cloudFormation.stack = there;
      return deployNow(folder, args);
    };
    const { code, report, err } = await stage.deploy(stage.assemble(firstHandler));
    stage.cloudFormation.onDeploy = deployNow;
    expect(code, err).toBe(0);
    expect(report).toMatchObject({ outcome: 'deployed', savepoint: null });
    expect(report!.notes).toEqual([]);
    expect(stage.cloudFormation.deploys).toHaveLength(deploys + 1);
  });
});
