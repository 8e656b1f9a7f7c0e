import { runRestoresRandomly } from './random-restore.ts';

/*
 * Runs the model of restores on a range of seeds: `node test/simulation/system/run-seeds.ts FROM COUNT [--trace|--all]`. Stops at
 * the first seed that finds something and prints what, or with `--all` goes on; exit code 1 then.
 */

const [from = '1', count = '300', flag] = process.argv.slice(2);
const end = Number(from) + Number(count);
const totals = { kills: 0, sleeps: 0, restores: 0, flips: 0, aborts: 0 };

for (let seed = Number(from); seed < end; seed += 1) {
  const { findings, trace, ...counts } = await runRestoresRandomly(String(seed));
  for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += counts[name];
  if (findings.length === 0) continue;
  process.exitCode = 1;
  if (flag === '--trace') console.log(trace.join('\n'));
  console.log(`seed ${seed}: ${findings[0]!}`);
  for (const finding of findings.slice(1, 10)) console.log(`  ${finding}`);
  if (flag !== '--all') break;
}
console.log(`${count} seeds from ${from}: ${JSON.stringify(totals)}`);
