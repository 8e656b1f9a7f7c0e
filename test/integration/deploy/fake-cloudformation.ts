import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The two calls of CloudFormation that a deployment makes, and where the stand-in for cdk says what it deploys. */
export interface FakeCloudFormation {
  readonly url: string;
  /** Undefined: there is no such stack. */
  stack: FakeStack | undefined;
  /** Does what cdk is told to do. @returns its exit code */
  onDeploy: (folder: string, args: readonly string[]) => Promise<number>;
  /** What cdk was told so far. */
  readonly deploys: (readonly string[])[];
  stop(): Promise<void>;
}

export interface FakeStack {
  readonly name: string;
  readonly status: string;
  readonly templateText: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export async function startFakeCloudFormation(): Promise<FakeCloudFormation> {
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      if (request.url === '/deploy') {
        const { args, folder } = JSON.parse(body) as { args: string[]; folder: string };
        fake.deploys.push(args);
        response.end(String(await fake.onDeploy(folder, args)));
        return;
      }
      const [status, xml] = answer(new URLSearchParams(body), fake.stack);
      response.writeHead(status, { 'content-type': 'text/xml' }).end(xml);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeCloudFormation = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stack: undefined,
    onDeploy: () => Promise.resolve(0),
    deploys: [],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

function answer(ask: URLSearchParams, stack: FakeStack | undefined): readonly [number, string] {
  const name = ask.get('StackName') ?? '';
  if (stack?.name !== name) {
    const message = `Stack with id ${name} does not exist`;
    const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message></Error>`;
    return [400, `<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>`];
  }
  const action = ask.get('Action') ?? '';
  return [
    200,
    `<${action}Response><${action}Result>${resultOf(action, stack)}</${action}Result></${action}Response>`,
  ];
}

function resultOf(action: string, { name, status, templateText, outputs }: FakeStack): string {
  if (action === 'GetTemplate') return `<TemplateBody>${escape(templateText)}</TemplateBody>`;
  const members = Object.entries(outputs)
    .map(
      ([key, value]) =>
        `<member><OutputKey>${key}</OutputKey><OutputValue>${escape(value)}</OutputValue></member>`,
    )
    .join('');
  return `<Stacks><member><StackName>${name}</StackName><StackStatus>${status}</StackStatus><CreationTime>2025-01-01T00:00:00Z</CreationTime><Outputs>${members}</Outputs></member></Stacks>`;
}

function escape(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
