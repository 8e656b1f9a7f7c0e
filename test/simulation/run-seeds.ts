import { runRandomly } from './data-path/random-run.ts';
import { runWindows } from './windows/windows-run.ts';

/*
 * Runs the model on a range of seeds: `node test/simulation/run-seeds.ts FROM COUNT [--trace] [--windows]`; with `--windows` those
 * of windows, of each kind. Stops at the first seed that finds something and prints what; exit code 1 then.
 */

const [from = '1', count = '1000', ...flags] = process.argv.slice(2);
const end = Number(from) + Number(count);

async function run(seed: string) {
  if (!flags.includes('--windows')) return [await runRandomly(seed)];
  return [
    await runWindows('tumbling', seed),
    await runWindows('sliding', seed),
    await runWindows('session', seed),
  ];
}

for (let seed = Number(from); seed < end; seed += 1) {
  const results = await run(String(seed));
  const failed = results.find(({ findings }) => findings.length > 0);
  if (failed === undefined) continue;
  const { findings, trace } = failed;
  console.log(`seed ${seed}: ${findings[0]!}`);
  for (const finding of findings.slice(1, 10)) console.log(`  ${finding}`);
  if (flags.includes('--trace')) console.log(trace.join('\n'));
  process.exit(1);
}
console.log(`${count} seeds from ${from}: nothing found`);
