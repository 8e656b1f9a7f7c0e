import { createRequire } from 'node:module';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Scratch } from '../harness/scratch.ts';

/** Where Restate's server listens, and its process. */
export interface RestatePlaces {
  readonly ingress: string;
  readonly admin: string;
  readonly pid: number;
}

const startMsMax = 60_000;
const pauseMs = 50;

/** Starts Restate's server on free ports of loopback, with its data in the scratch, for as long as that is there. */
export async function startRestate(scratch: Scratch): Promise<RestatePlaces> {
  const folder = path.join(scratch.folder, 'restate');
  mkdirSync(folder);
  const [node, ingress, admin] = await findFreePorts(3);
  const child = scratch.start(findServer(), ['--no-logo'], {
    folder,
    isQuiet: true,
    env: {
      ...process.env,
      // It leaves folders of its own there.
      ...{ TMPDIR: folder, TEMP: folder, TMP: folder },
      RESTATE_BASE_DIR: folder,
      RESTATE_NODE_NAME: 'bench',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'error',
    },
  });
  child.stdout!.resume();
  const places = {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    pid: child.pid!,
  };
  const endMs = performance.now() + startMsMax;
  while (!(await isUp(`${places.admin}/health`))) {
    if (child.exitCode !== null) throw new Error(`Restate's server ended with ${child.exitCode}`);
    if (performance.now() > endMs) {
      throw new Error(`Restate's server was not up after ${startMsMax / 1000} s`);
    }
    await pause(pauseMs);
  }
  return places;
}

/** The program in the package of this platform. */
function findServer(): string {
  const require = createRequire(import.meta.url);
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const manifest = require.resolve(`${name}/package.json`);
  return path.join(path.dirname(manifest), 'bin', 'restate-server');
}

async function isUp(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
