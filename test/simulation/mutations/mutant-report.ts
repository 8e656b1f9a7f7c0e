import { format, resolveConfig } from 'prettier';
import type { UnreachableRule } from './unreachable.ts';
import type { Verdict } from './try-mutant.ts';

const findingLength = 120;

/** One line for each mutant, and what was found below it. */
export function tellVerdict({ mutant, kind, by, finding }: Verdict): string {
  const verdict = kind === 'caught' ? by! : kind.toUpperCase();
  const line = `${mutant.rule.padEnd(8)} ${verdict.padEnd(20)} ${mutant.what}`;
  return finding === '' ? line : `${line}\n${' '.repeat(30)}${shorten(finding)}`;
}

/** The table for readers, as Markdown; `file` says under whose formatting rules. */
export async function writeReport(
  verdicts: readonly Verdict[],
  unreachable: readonly UnreachableRule[],
  { seeds, file }: { readonly seeds: number; readonly file: string },
): Promise<string> {
  const caught = verdicts.filter(({ kind }) => kind === 'caught').length;
  const rows = verdicts.map(({ mutant, kind, by, finding }) => [
    mutant.rule,
    mutant.what,
    `\`${mutant.file}\``,
    kind === 'caught' ? by! : `**${kind}**`,
    shorten(finding),
  ]);
  const text = [
    '# Who notices when a rule is broken',
    '',
    `Each line is one change that breaks a rule of [the protocol](../../docs/protocol.md) in a copy of the sources, and what was the first to notice within ${seeds} seeds: \`npm run mutants -- --write\` writes this file. ${caught} of ${verdicts.length} changes were noticed.`,
    '',
    ...table(['rule', 'broken', 'in', 'noticed by', 'finding'], rows),
    ...(unreachable.length === 0
      ? []
      : [
          '',
          '## Rules without a mutation',
          '',
          ...table(
            ['rule', 'why'],
            unreachable.map(({ rule, reason }) => [rule, reason]),
          ),
        ]),
    '',
  ].join('\n');
  return format(text, { ...(await resolveConfig(file)), parser: 'markdown' });
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(escape).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)];
}

/** Markdown must not take data for marks. */
function escape(cell: string): string {
  return cell.startsWith('`') || cell.startsWith('**')
    ? cell
    : cell.replace(/[|*_<>~[\]\\]/g, '\\$&');
}

function shorten(finding: string): string {
  const line = finding.replace(/\s+/g, ' ');
  return line.length <= findingLength ? line : `${line.slice(0, findingLength)}…`;
}
