import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEndpointUrl, readLocalPort } from '../../../localstack/endpoint/endpoint-address.ts';
import { endpointEnvironment } from '../../../localstack/endpoint/endpoint-environment.ts';
import { findEndpoint } from '../../../localstack/endpoint/find-endpoint.ts';
import { endpointPort } from './run-endpoint.ts';

/** Answers on some pages, and as a bucket that is not there on all others. */
async function serve(pages: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    response.writeHead(page === undefined ? 404 : 200).end(page ?? '<Error/>');
  });
  const port = await endpointPort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}`;
}

const health = (version: string): string =>
  JSON.stringify({ services: { s3: 'running' }, edition: 'community', version });

describe('the endpoint', () => {
  it.for([
    ['localstack', '4.14.0', { '/_localstack/health': health('4.14.0') }],
    [
      'ministack',
      '1.5.33',
      { '/_localstack/health': health('1.5.33'), '/_ministack/health': health('1.5.33') },
    ],
    [
      'floci',
      '2.2.0',
      { '/_localstack/health': health('2.2.0'), '/_floci/health': health('2.2.0') },
    ],
  ] as const)('is known as %s by its own health page', async ([product, version, pages]) => {
    const url = await serve(pages);
    expect(await findEndpoint(url)).toEqual({ url, product, version });
  });

  it.for([
    ['no health page', {}],
    ['a page that is no health page', { '/_localstack/health': '<html/>' }],
    ['JSON without services', { '/_localstack/health': '{"ok":true}' }],
  ] as const)('is refused with %s, and the remedy', async ([, pages]) => {
    await expect(findEndpoint(await serve(pages))).rejects.toThrow(
      /has the health page of none of LocalStack, MiniStack, Floci; set AWS_ENDPOINT_URL/,
    );
  });

  it('is not there where nobody listens', async () => {
    expect(await findEndpoint(`http://127.0.0.1:${await endpointPort()}`)).toBeUndefined();
  });

  it.for([
    [undefined, 'http://127.0.0.1:4566', 4566],
    ['', 'http://127.0.0.1:4566', 4566],
    ['http://localhost:4700/', 'http://127.0.0.1:4700', 4700],
    ['http://127.0.0.1', 'http://127.0.0.1', 80],
    ['https://127.0.0.1:4566', 'https://127.0.0.1:4566', undefined],
    ['http://stack.example:4566', 'http://stack.example:4566', undefined],
  ] as const)('of AWS_ENDPOINT_URL=%s is %s, to be started on port %s', ([text, url, port]) => {
    expect(readEndpointUrl({ AWS_ENDPOINT_URL: text })).toBe(url);
    expect(readLocalPort(url)).toBe(port);
  });

  it.for(['4566', 'localhost:4566', 'ftp://127.0.0.1'])('is no address as %s', (text) => {
    expect(() => readEndpointUrl({ AWS_ENDPOINT_URL: text })).toThrow(/expected an address as/);
  });

  it('gets no key, profile or other address of the user', () => {
    const env = {
      PATH: '/bin',
      AWS_PROFILE: 'production',
      AWS_SESSION_TOKEN: 'secret',
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_ENDPOINT_URL_S3: 'https://s3.example',
      AWS_REGION: 'eu-central-1',
      CDK_DEFAULT_ACCOUNT: '123456789012',
    };
    expect(endpointEnvironment(env, 'http://127.0.0.1:4566')).toEqual({
      PATH: '/bin',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      AWS_REGION: 'eu-central-1',
      AWS_DEFAULT_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    });
  });
});
