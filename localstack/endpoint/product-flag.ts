import { Option, type Command } from 'commander';
import { products } from './products.ts';

/** Adds what is started where nobody answers. */
export function addProductFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--product <name>',
      'what is started where nobody answers at AWS_ENDPOINT_URL; by default LocalStack by Docker, and where its daemon does not answer MiniStack from Python’s package index',
    ).choices(products),
  );
}
