import type { Gate } from './engine/gate.ts';

/** Puts findings into a trace, behind the step that they came with. */
export interface FindingMarks {
  /** To be called between steps: marks what has been found since the last time. */
  note(): void;
}

const mark = '  found: ';

export function createFindingMarks(gate: Gate, findings: readonly string[]): FindingMarks {
  let marked = 0;
  return {
    note() {
      for (; marked < findings.length; marked += 1) gate.trace.push(`${mark}${findings[marked]!}`);
    },
  };
}

/** What a line of a trace says was found; undefined where it is no such line. */
export function readFindingMark(line: string): string | undefined {
  return line.startsWith(mark) ? line.slice(mark.length) : undefined;
}
