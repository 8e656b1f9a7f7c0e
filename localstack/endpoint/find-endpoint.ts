import * as z from 'zod';
import { describeThrown, HoldfastError } from '../../shared/core/errors.ts';
import { healthPages, productNames, type Product } from './products.ts';

/** Something that answers for AWS. */
export interface Endpoint {
  readonly url: string;
  readonly product: Product;
  /** As its health page says. */
  readonly version: string;
}

/** How long a health page may take, ms. */
const answerMsMax = 5_000;

/** What all products have on their health page. */
const health = z.object({
  services: z.record(z.string(), z.unknown()),
  version: z.string().default('of unknown version'),
});

/**
 * Asks who answers at an address.
 *
 * @returns undefined where nobody listens
 * @throws HoldfastError `invalid` where somebody answers whom this project does not know: nothing is deployed there
 */
export async function findEndpoint(url: string): Promise<Endpoint | undefined> {
  for (const [product, page] of healthPages) {
    const response = await ask(`${url}${page}`);
    if (response === undefined) return undefined;
    const found = health.safeParse(response.ok ? await readJson(response) : undefined);
    if (found.success) return { url, product, version: found.data.version };
  }
  const names = Object.values(productNames).join(', ');
  throw new HoldfastError(
    'invalid',
    `what answers at ${url} has the health page of none of ${names}; set AWS_ENDPOINT_URL to one of them, or to a free port of this machine, where one is then started`,
  );
}

/** Undefined where nobody listens. */
async function ask(page: string): Promise<Response | undefined> {
  try {
    return await fetch(page, { signal: AbortSignal.timeout(answerMsMax) });
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED')
      return undefined;
    throw new HoldfastError(
      'unavailable',
      `${page} does not answer (${describeThrown(cause ?? error)}); look whether AWS_ENDPOINT_URL is right`,
      { cause: error },
    );
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

export function describeEndpoint({ product, version, url }: Endpoint): string {
  return `${productNames[product]} ${version} at ${url}`;
}
