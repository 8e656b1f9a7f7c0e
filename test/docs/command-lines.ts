import type { Command } from 'commander';

/**
 * The commands of `holdfast` that a document shows: lines of blocks, and what stands between backticks, each once. What follows
 * a `#` is a comment.
 */
export function listCommandLines(text: string): string[] {
  const found = text.matchAll(/npx holdfast ([^`\n#]+)/g);
  return [...new Set([...found].map(([, rest]) => rest!.trim()))];
}

/** What is wrong with a command that a document shows; undefined for nothing. */
export function checkCommandLine(program: Command, line: string): string | undefined {
  const words = [...line.matchAll(/"[^"]*"|\S+/g)].map(([word]) => word);
  let command = program;
  let at = 0;
  for (; at < words.length; at += 1) {
    const next = command.commands.find((one) => one.name() === words[at]);
    if (next === undefined) break;
    command = next;
  }
  if (command === program) return `there is no command ${words[0] ?? ''}`;
  if (command.commands.length > 0) return `${command.name()} has no ${words[at] ?? 'action'}`;
  return checkArguments(command, words.slice(at));
}

function checkArguments(command: Command, words: readonly string[]): string | undefined {
  let given = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (!word.startsWith('-')) {
      given += 1;
      continue;
    }
    const option = command.options.find(({ long }) => long === word);
    if (option === undefined) return `${command.name()} has no option ${word}`;
    if (!option.required) continue;
    at += 1;
    if (words[at] === undefined) return `${word} of ${command.name()} needs a value`;
  }
  const most = command.registeredArguments.length;
  const least = command.registeredArguments.filter(({ required }) => required).length;
  if (given >= least && given <= most) return undefined;
  return `${command.name()} takes ${least} to ${most} arguments, not ${given}`;
}
