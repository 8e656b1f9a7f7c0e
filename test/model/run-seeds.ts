import { runRandomly } from './random-run.ts';

/*
 * Runs the model on a range of seeds: `node test/model/run-seeds.ts FROM COUNT [--trace]`. Stops at the first seed that
 * finds something and prints what; exit code 1 then.
 */

const [from = '1', count = '1000', flag] = process.argv.slice(2);
const end = Number(from) + Number(count);

for (let seed = Number(from); seed < end; seed += 1) {
  const { findings, trace } = await runRandomly(String(seed));
  if (findings.length === 0) continue;
  console.log(`seed ${seed}: ${findings[0]!}`);
  for (const finding of findings.slice(1, 10)) console.log(`  ${finding}`);
  if (flag === '--trace') console.log(trace.join('\n'));
  process.exit(1);
}
console.log(`${count} seeds from ${from}: nothing found`);
