import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { readWhole } from '../../../cli/read-whole.ts';
import { describeThrown } from '../../../shared/core/errors.ts';
import { defaultJobs } from '../run-seeds.ts';
import type { Mutant } from './mutant.ts';
import { tellVerdict, writeReport } from './mutant-report.ts';
import { mutants } from './mutants.ts';
import { copyProject, tryMutant, type Verdict } from './try-mutant.ts';
import { unreachableRules } from './unreachable.ts';

/*
 * `npm run mutants -- …`: breaks the protocol's rules one by one in copies of the project, and tells which run or test notices.
 * Exit codes: 0 all are noticed; 1 one is not; 2 wrong usage or a failure on the way; 130 and 143 stopped by Ctrl-C or SIGTERM.
 */

interface MutantFlags {
  readonly seeds: number;
  readonly rule?: string;
  readonly jobs: number;
  readonly write: boolean;
}

const reportFile = join(import.meta.dirname, '..', 'mutations.md');

const program = new Command('mutants')
  .description('break the rules of the protocol one by one, and see which simulated run notices')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .option('--seeds <count>', 'how many seeds each change gets', readWhole(1, 1_000_000), 1000)
  .option('--rule <rule>', 'the changes that break this rule alone', readRule)
  .option('--jobs <count>', 'changes that are tried at once', readWhole(1, 64), defaultJobs())
  .option('--write', 'write the table to test/simulation/mutations.md', false)
  .action(async (flags: MutantFlags) => {
    process.exitCode = await checkMutants(flags);
  });

async function checkMutants({ seeds, rule, jobs, write }: MutantFlags): Promise<number> {
  const chosen = mutants.filter((mutant) => rule === undefined || mutant.rule === rule);
  const controller = new AbortController();
  let exitCode: number | undefined;
  const stopWith = (code: number) => (): void => {
    exitCode = code;
    controller.abort();
  };
  process.once('SIGINT', stopWith(130)).once('SIGTERM', stopWith(143));
  const verdicts = await tryAll(chosen, { seeds, jobs, signal: controller.signal });
  if (exitCode !== undefined) return exitCode;
  const caught = verdicts.filter(({ kind }) => kind === 'caught').length;
  console.log(`${caught} of ${chosen.length} noticed within ${seeds} seeds`);
  if (write) {
    await writeFile(
      reportFile,
      await writeReport(verdicts, unreachableRules, { seeds, file: reportFile }),
    );
  }
  return caught === chosen.length ? 0 : 1;
}

/** In the order of the list, whatever ends first; tells each when those before it are told. */
async function tryAll(
  chosen: readonly Mutant[],
  options: { readonly seeds: number; readonly jobs: number; readonly signal: AbortSignal },
): Promise<Verdict[]> {
  const verdicts = new Map<Mutant, Verdict>();
  const waiting = [...chosen];
  let told = 0;
  const work = async (): Promise<void> => {
    const copy = await copyProject();
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        verdicts.set(mutant, await tryMutant(copy, mutant, options));
        for (; verdicts.has(chosen[told]!); told += 1) {
          console.log(tellVerdict(verdicts.get(chosen[told]!)!));
        }
      }
    } catch (thrown) {
      waiting.length = 0;
      if (!options.signal.aborted) throw thrown;
    } finally {
      await copy.remove();
    }
  };
  const works = await Promise.allSettled(Array.from({ length: options.jobs }, work));
  const failed = works.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return chosen.flatMap((mutant) => verdicts.get(mutant) ?? []);
}

function readRule(text: string): string {
  const rules = [...new Set(mutants.map(({ rule }) => rule))];
  if (rules.includes(text)) return text;
  throw new InvalidArgumentError(`expected one of ${rules.join(', ')}`);
}

try {
  await program.parseAsync();
} catch (thrown) {
  console.error(`mutants: ${describeThrown(thrown)}`);
  process.exitCode = 2;
}
