import { pathToFileURL } from 'node:url';
import { peakRssBytes } from '../harness/machine.ts';

/*
 * A process that loads a bundle, as Lambda does before the first event, and prints what that took as one line of JSON:
 *
 *   node cold-process.ts <file> <environment as JSON>
 */

const [file, environment] = process.argv.slice(2) as [string, string];
Object.assign(process.env, JSON.parse(environment));
const url = pathToFileURL(file).href;
const startedMs = performance.now();
const { handler } = (await import(url)) as { readonly handler?: unknown };
const importMs = performance.now() - startedMs;
if (typeof handler !== 'function') throw new Error(`${file} has no handler`);
process.stdout.write(`${JSON.stringify({ importMs, peakRssBytes: peakRssBytes() })}\n`);
