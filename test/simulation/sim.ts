import { Command, Option } from 'commander';
import { readWhole } from '../../cli/read-whole.ts';
import { describeThrown } from '../../shared/core/errors.ts';
import { exploreSeeds, type ExploreFlags } from './explore-seeds.ts';
import { kinds, type Kind } from './kinds.ts';
import { replaySeed } from './replay-seed.ts';
import { defaultJobs } from './run-seeds.ts';

/*
 * `npm run sim -- …`: runs the simulation on a range of seeds, or one of them again.
 * Exit codes: 0 nothing found; 1 a seed fails; 2 wrong usage or a failure on the way; 130 and 143 stopped by Ctrl-C or SIGTERM.
 */

interface SimFlags extends ExploreFlags {
  readonly seed?: number;
  readonly kind?: Kind;
  readonly trace: boolean;
}

const seedMax = 2 ** 48;

const program = new Command('sim')
  .description('simulate the whole system on seeds, with everything that can go wrong')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .option('--seeds <count>', 'how many seeds', readWhole(1, seedMax), 1000)
  .option('--from <seed>', 'the first of them', readWhole(0, seedMax), 1)
  .addOption(
    new Option('--seed <seed>', 'run this one alone, exactly as it was')
      .argParser(readWhole(0, seedMax))
      .conflicts(['seeds', 'from', 'all', 'coverage']),
  )
  .addOption(
    new Option('--kind <kind>', 'what is simulated')
      .choices(kinds)
      .default(undefined, 'each seed draws its own'),
  )
  .option('--jobs <count>', 'seeds that run at once', readWhole(1, 64), defaultJobs())
  .option('--all', 'go on behind a seed that fails', false)
  .option('--trace', 'tell the failing run, or the given one, step by step', false)
  .option('--shrink', 'look for a shorter run that fails the same way', false)
  .option('--budget <seconds>', 'how long to shrink', readWhole(1, 86_400), 60)
  .option('--coverage', 'print which faults have hit which calls, and which never did', false)
  .option('--json', 'print the result as JSON', false)
  .action(async ({ seed, kind, ...flags }: SimFlags) => {
    const chosen = { ...flags, ...(kind === undefined ? {} : { kind }) };
    process.exitCode = await (seed === undefined ? exploreSeeds(chosen) : replaySeed(seed, chosen));
  });

try {
  await program.parseAsync();
} catch (thrown) {
  console.error(`sim: ${describeThrown(thrown)}`);
  process.exitCode = 2;
}
