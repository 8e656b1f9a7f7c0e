import { readFileSync } from 'node:fs';
import { createServer, type Http2Server } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { CountedEvent, Totals } from '../embedded/counting-operator.ts';
import { loadPeerPackage } from './peer-packages.ts';
import { decodeData, type KinesisEvent, type Peer } from './peer.ts';
import type { RestatePlaces } from './restate-server.ts';

interface ObjectContext {
  get<Value>(name: string): Promise<Value | null>;
  set(name: string, value: unknown): void;
}

/** What is used of `@restatedev/restate-sdk`. */
interface SdkPackage {
  object(definition: { readonly name: string; readonly handlers: object }): object;
  readonly handlers: {
    readonly object: { shared(handler: (context: ObjectContext) => Promise<unknown>): object };
  };
  createEndpointHandler(options: {
    readonly services: readonly object[];
  }): Parameters<Http2Server['on']>[1];
}

/** What is used of `@restatedev/restate-sdk-clients`. */
interface ClientsPackage {
  readonly connect: (options: { readonly url: string }) => {
    objectClient(
      api: { readonly name: string },
      key: string,
    ): {
      add(amounts: readonly number[], options: object): Promise<void>;
      get(): Promise<Totals | null>;
    };
  };
  readonly Opts: { from(options: { readonly idempotencyKey: string }): object };
}

/** `event`: a call for each event; `key`: one for each key of a batch, with all its amounts in order. */
export type RestateCalls = 'event' | 'key';

/** Calls at once, as many as our own clients have connections. */
const callsAtOnce = 64;

interface Call {
  readonly key: string;
  readonly amounts: number[];
  /** Restate makes one call of all that come under it. */
  readonly idempotencyKey: string;
}

/** A virtual object for each key; the service runs in this process, its state is in Restate's server. */
export async function createRestatePeer(
  runId: string,
  places: RestatePlaces,
  calls: RestateCalls,
): Promise<Peer> {
  process.env['RESTATE_LOGGING'] = 'ERROR';
  const sdk = await loadPeerPackage<SdkPackage>('@restatedev/restate-sdk');
  const { connect, Opts } = await loadPeerPackage<ClientsPackage>(
    '@restatedev/restate-sdk-clients',
  );
  const api = { name: 'totals' };
  const service = sdk.object({
    name: api.name,
    handlers: {
      async add(context: ObjectContext, amounts: readonly number[]) {
        const { count, sum } = (await context.get<Totals>('totals')) ?? { count: 0, sum: 0 };
        const added = amounts.reduce((total, amount) => total + amount, 0);
        context.set('totals', { count: count + amounts.length, sum: sum + added });
      },
      get: sdk.handlers.object.shared((context) => context.get<Totals>('totals')),
    },
  });
  const server = createServer(sdk.createEndpointHandler({ services: [service] }));
  const client = connect({ url: places.ingress });
  const known = new Set<string>();
  let requests = 0;
  // Runs share a server: each has keys of its own.
  const objectOf = (key: string) => client.objectClient(api, `${runId}/${key}`);

  return {
    async prepare() {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      await registerService(places.admin, `http://127.0.0.1:${port}`);
    },
    async deliver(event) {
      const { Records } = JSON.parse(event) as KinesisEvent;
      const wanted = calls === 'event' ? callEach(Records) : callKeys(Records);
      await inParallel(wanted, async ({ key, amounts, idempotencyKey }) => {
        known.add(key);
        requests += 1;
        const options = Opts.from({ idempotencyKey: `${runId}/${idempotencyKey}` });
        await objectOf(key).add(amounts, options);
      });
    },
    async readTotals() {
      const totals = new Map<string, Totals>();
      await inParallel([...known], async (key) => {
        const there = await objectOf(key).get();
        if (there !== null) totals.set(key, there);
      });
      return totals;
    },
    ownRequests: () => requests,
    serverCpuMicros: () => readCpuMicros(places.pid),
    async close() {
      server.close();
    },
  };
}

async function registerService(admin: string, uri: string): Promise<void> {
  const response = await fetch(`${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri, force: true }),
  });
  if (response.ok) return;
  throw new Error(`Restate refuses the service at ${uri}: ${await response.text()}`);
}

function callEach(records: KinesisEvent['Records']): Call[] {
  return records.map((record) => {
    const { key, amount } = decodeData<CountedEvent>(record);
    return { key, amounts: [amount], idempotencyKey: record.eventID };
  });
}

function callKeys(records: KinesisEvent['Records']): Call[] {
  const byKey = new Map<string, Call>();
  for (const record of records) {
    const { key, amount } = decodeData<CountedEvent>(record);
    const there = byKey.get(key);
    if (there !== undefined) there.amounts.push(amount);
    // Right only for batches that come again as they were; AWS does not promise that.
    else byKey.set(key, { key, amounts: [amount], idempotencyKey: record.eventID });
  }
  return [...byKey.values()];
}

async function inParallel<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) await run(item);
  };
  await Promise.all(Array.from({ length: callsAtOnce }, work));
}

/** Clock ticks of Linux are 10 ms everywhere that matters. */
const tickMicros = 10_000;

function readCpuMicros(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold anything, the 12th and 13th field are time as user and in the kernel.
  const [user, kernel] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(kernel)) * tickMicros;
}
