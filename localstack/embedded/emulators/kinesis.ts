import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Emulator } from './emulator.ts';

export interface KinesisOptions {
  /** Shards over all streams of one region. @default 1000 */
  readonly shardsMax?: number;
  /** On-demand streams of one region. @default 100 */
  readonly onDemandStreamsMax?: number;
  /** How long the child may take until it answers. @default 30000 */
  readonly startTimeoutMs?: number;
}

export interface KinesisEmulator extends Emulator {
  /** Process id of the child that serves the endpoint. */
  readonly pid: number;
}

// Names for the two listeners, never bound: the preload hook lets the system choose real ports, so that
// two stacks can start at once without a clash.
const PLAIN_LISTENER = 1;
const TLS_LISTENER = 2;

const OUTPUT_CHARS_MAX = 4_000;
const STOP_GRACE_MS = 2_000;

const durations = [
  'CREATE_STREAM',
  'DELETE_STREAM',
  'REGISTER_STREAM_CONSUMER',
  'DEREGISTER_STREAM_CONSUMER',
  'START_STREAM_ENCRYPTION',
  'STOP_STREAM_ENCRYPTION',
  'MERGE_SHARDS',
  'SPLIT_SHARD',
  'UPDATE_SHARD_COUNT',
  'UPDATE_STREAM_MODE',
];

/**
 * Starts kinesis-local in a child process and resolves when it answers a request. The child ends with
 * `stop()`, and also when this process ends in any way.
 */
export async function startKinesis(options: KinesisOptions = {}): Promise<KinesisEmulator> {
  const main = createRequire(import.meta.url).resolve('kinesis-local/main.js');
  const preload = fileURLToPath(new URL('./kinesis-preload.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', preload, main], {
    env: childEnvironment(options, path.join(path.dirname(main), 'server.json')),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = collectOutput(child);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = (): Promise<void> => stopChild(child, exited);
  try {
    const port = await waitForPort(child, exited, output, options.startTimeoutMs ?? 30_000);
    const endpoint = `http://127.0.0.1:${port}`;
    await waitForAnswer(endpoint, options.startTimeoutMs ?? 30_000);
    return { endpoint, pid: child.pid ?? -1, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function childEnvironment(options: KinesisOptions, certPath: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    AWS_REGION: process.env['AWS_REGION'] ?? 'us-east-1',
    KINESIS_MOCK_PLAIN_PORT: String(PLAIN_LISTENER),
    KINESIS_MOCK_TLS_PORT: String(TLS_LISTENER),
    KINESIS_MOCK_CERT_PATH: certPath,
    SHARD_LIMIT: String(options.shardsMax ?? 1_000),
    ON_DEMAND_STREAM_COUNT_LIMIT: String(options.onDemandStreamsMax ?? 100),
    LOG_LEVEL: 'ERROR',
    ROOT_LOG_LEVEL: 'ERROR',
  };
  for (const name of durations) env[`${name}_DURATION`] = '10ms';
  return env;
}

/** Keeps the child's last output for the error of a failed start. */
function collectOutput(child: ChildProcess): () => string {
  let text = '';
  const append = (chunk: Buffer): void => {
    text = (text + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
  };
  child.stdout?.on('data', append);
  child.stderr?.on('data', append);
  return () => text.trim();
}

function waitForPort(
  child: ChildProcess,
  exited: Promise<void>,
  output: () => string,
  timeoutMs: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(startError(`opened no port within ${timeoutMs} ms; raise startTimeoutMs`, output()));
    }, timeoutMs);
    child.on('message', (message: unknown) => {
      const { requestedPort, port } = message as { requestedPort: unknown; port: number };
      if (requestedPort !== PLAIN_LISTENER) return;
      clearTimeout(timer);
      resolve(port);
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(startError(error.message, output()));
    });
    void exited.then(() => {
      clearTimeout(timer);
      const how = child.signalCode ?? `code ${child.exitCode}`;
      reject(startError(`exited with ${how} before it listened`, output()));
    });
  });
}

function startError(what: string, output: string): Error {
  return new Error(`kinesis-local ${what}; its last output: ${output || '(none)'}`);
}

/** The port opens a little before the routes are there, so only an answer counts. */
async function waitForAnswer(endpoint: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let last: string;
  do {
    try {
      const reply = await fetch(endpoint, {
        method: 'POST',
        headers: {
          'x-amz-target': 'Kinesis_20131202.ListStreams',
          'content-type': 'application/x-amz-json-1.1',
          authorization:
            'AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/kinesis/aws4_request, SignedHeaders=host, Signature=0',
          'x-amz-date': '20200101T000000Z',
        },
        body: '{}',
        signal: AbortSignal.timeout(timeoutMs),
      });
      last = `HTTP ${reply.status}: ${await reply.text()}`;
      if (reply.ok) return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(20);
  } while (performance.now() < deadline);
  throw startError(`did not answer ListStreams within ${timeoutMs} ms (${last})`, '');
}

async function stopChild(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  await exited;
  clearTimeout(timer);
}
