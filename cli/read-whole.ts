import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number between two bounds, both included. */
export function readWhole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}`);
  };
}
