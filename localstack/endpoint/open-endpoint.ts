import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../shared/core/errors.ts';
import { hasDocker, startContainer } from './compose.ts';
import { readLocalPort } from './endpoint-address.ts';
import { findEndpoint, type Endpoint } from './find-endpoint.ts';
import { productNames, type Product } from './products.ts';
import { filesOfPort } from './project-folder.ts';
import { startMiniStack } from './start-ministack.ts';
import { readStarted, type StartedEndpoint } from './started-endpoint.ts';

/** Until a container whose image is there answers, ms; an image is pulled before that. */
const startMsMax = 120_000;
const pollMs = 250;

export interface OpenOptions {
  readonly url: string;
  /** What to start where nobody answers. @default LocalStack where there is Docker, else MiniStack from Python's index */
  readonly product?: Product | undefined;
  readonly onStep: (text: string) => void;
  /** Called before anything is started, with the port on which it has to be stopped. */
  readonly onStarting: (port: number) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface OpenEndpoint extends Endpoint {
  /** It was started here, and not there before. */
  readonly isNew: boolean;
}

/**
 * Finds the endpoint, or starts one where nobody answers at an address of this machine.
 *
 * @throws HoldfastError `unavailable` where it cannot be started, or does not answer
 */
export async function openEndpoint(options: OpenOptions): Promise<OpenEndpoint> {
  const { url, onStep, onStarting, signal } = options;
  onStep(`looking for an endpoint at ${url}`);
  const found = await findEndpoint(url);
  if (found !== undefined) return { ...found, isNew: false };
  const port = readLocalPort(url);
  if (port === undefined) {
    throw new HoldfastError(
      'unavailable',
      `nobody answers at ${url}, and nothing can be started there from here; start it, or leave AWS_ENDPOINT_URL out`,
    );
  }
  onStarting(port);
  const started = await start(port, options);
  return { ...(await waitForAnswer(url, port, started, signal)), isNew: true };
}

async function start(
  port: number,
  { product, onStep, signal }: OpenOptions,
): Promise<StartedEndpoint> {
  if (await hasDocker(signal)) {
    const chosen = product ?? 'localstack';
    onStep(`starting ${productNames[chosen]} by Docker`);
    return startContainer(port, chosen, signal);
  }
  if (product !== undefined && product !== 'ministack') {
    throw new HoldfastError(
      'unavailable',
      `${productNames[product]} is started by Docker, whose daemon does not answer; start it, or leave --product out for MiniStack from Python's package index`,
    );
  }
  const onMaking = (): void =>
    onStep('making a virtual environment for MiniStack from Python’s package index');
  onStep('starting MiniStack');
  return startMiniStack(port, onMaking, signal);
}

async function waitForAnswer(
  url: string,
  port: number,
  started: StartedEndpoint,
  signal: AbortSignal | undefined,
): Promise<Endpoint> {
  const deadline = performance.now() + startMsMax;
  for (;;) {
    const found = await findEndpoint(url).catch(() => undefined);
    if (found !== undefined) return found;
    const hasEnded = started.kind === 'process' && !isAlive(started.pid);
    if (hasEnded || performance.now() > deadline) {
      const look = started.kind === 'process' ? filesOfPort(port).log : 'the log of its container';
      const what = hasEnded ? 'it has ended' : `not after ${startMsMax / 1_000} s`;
      throw new HoldfastError(
        'unavailable',
        `what was started does not answer at ${url}: ${what}; see ${look}`,
      );
    }
    await sleep(pollMs, undefined, { signal });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether these tools have started what answers at an address, and stop it by `down`. */
export async function isOurs(url: string): Promise<boolean> {
  const port = readLocalPort(url);
  return port !== undefined && (await readStarted(port)) !== undefined;
}
