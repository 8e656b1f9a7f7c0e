import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { orderContract, readContract } from '../../shared/composition/aws/operator-contract.ts';
import { describeThrown, isHoldfastError } from '../../shared/core/errors.ts';
import type { AskedCode } from './check-deployment.ts';
import type { OperatorCode } from './job-template.ts';

/** How long a bundle may take to load and to answer, ms. */
const answerTimeoutMs = 30_000;

/** What stands before the answer, after whatever the code prints. */
const mark = 'holdfast-answer:';

const script = `
const [url, name, order, mark] = process.argv.slice(1);
const tell = (answer) => process.stdout.write('\\n' + mark + JSON.stringify(answer), () => process.exit(0));
try {
  const handler = (await import(url))[name];
  tell({ answer: await handler(JSON.parse(order), { getRemainingTimeInMillis: () => 10_000 }) });
} catch (thrown) {
  tell({ name: thrown?.name ?? '', message: String(thrown?.message ?? thrown) });
}`;

/**
 * Asks the code of an operator for its contract as its function would be asked, before it is deployed: the very bundle, in a process
 * of its own, with the variables of its template and no credentials. The order reads no table and no stream.
 *
 * @param folder the code's asset; undefined where it is not on this machine
 */
export async function askBundle(
  { operator, handler, variables }: OperatorCode,
  folder: string | undefined,
): Promise<AskedCode> {
  const unknown = (reason: string): AskedCode => ({ kind: 'unknown', operator, reason });
  const at = handler.lastIndexOf('.');
  const [module, name] = [handler.slice(0, at), handler.slice(at + 1)];
  const files = ['.mjs', '.js', '.cjs'].map((ending) => join(folder ?? '', module + ending));
  const file = folder === undefined ? undefined : files.find((one) => existsSync(one));
  if (file === undefined) return unknown('its bundle is not on this machine');
  const args = [pathToFileURL(file).href, name, JSON.stringify(orderContract()), mark];
  const printed = await runScript(args, fillVariables(variables));
  const answer = printed.includes(mark)
    ? printed.slice(printed.lastIndexOf(mark) + mark.length)
    : '';
  if (answer === '') return unknown('it gave no answer');
  const told = JSON.parse(answer) as Partial<Record<'answer' | 'name' | 'message', unknown>>;
  if (told.answer === undefined) {
    const reason = String(told.message);
    return told.name === 'ConfigurationError'
      ? { kind: 'refused', operator, reason }
      : unknown(reason);
  }
  try {
    return { kind: 'contract', contract: readContract(told.answer, operator) };
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return unknown(describeThrown(thrown));
  }
}

async function runScript(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, '--', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: answerTimeoutMs,
    killSignal: 'SIGKILL',
    env: { ...variables, AWS_REGION: 'us-east-1', PATH: process.env['PATH'] ?? '' },
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  return printed;
}

/** Stands for every name that only a deployment gives. */
const anyName = 'not-deployed-yet';
const anyStream = `arn:aws:kinesis:us-east-1:000000000000:stream/${anyName}`;

/** The variables with something of the right form wherever the template has an intrinsic function. */
export function fillVariables(
  variables: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value !== 'string' && name === 'HOLDFAST_STREAM_ARN' ? anyStream : fill(value),
    ]),
  );
}

function fill(value: unknown): string {
  if (typeof value === 'string') return value;
  const join = (value as { readonly 'Fn::Join'?: unknown } | null)?.['Fn::Join'];
  if (!Array.isArray(join)) return anyName;
  const [separator, parts] = join as [string, readonly unknown[]];
  return parts.map(fill).join(separator);
}
