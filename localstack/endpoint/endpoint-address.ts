import { HoldfastError } from '../../shared/core/errors.ts';

const defaultUrl = 'http://127.0.0.1:4566';

/**
 * Where the endpoint is: AWS_ENDPOINT_URL, or LocalStack's port on this machine.
 *
 * @throws HoldfastError `invalid` where it is no address
 */
export function readEndpointUrl(env: NodeJS.ProcessEnv): string {
  const text = env['AWS_ENDPOINT_URL'] ?? '';
  if (text === '') return defaultUrl;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new HoldfastError(
      'invalid',
      `AWS_ENDPOINT_URL is ${JSON.stringify(text)}; expected an address as ${defaultUrl}`,
    );
  }
  const url = new URL(text);
  // A name would come before it as a bucket's: only for a number clients put buckets into the path by themselves.
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  return url.origin;
}

/** The port of an address on which something can be started here; undefined where it is elsewhere or encrypted. */
export function readLocalPort(endpointUrl: string): number | undefined {
  const { protocol, hostname, port } = new URL(endpointUrl);
  if (protocol !== 'http:' || hostname !== '127.0.0.1') return undefined;
  return port === '' ? 80 : Number(port);
}
