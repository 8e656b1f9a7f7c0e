import { styleText } from 'node:util';
import { formatTable } from '../table.ts';
import type { Diagnosis, Finding, Need } from './finding.ts';
import type { DoctorReport } from './run-doctor.ts';

const words: Readonly<Record<Finding['result'], string>> = {
  works: 'works',
  differs: 'differs',
  missing: 'missing',
  untried: 'could not be tried',
};

const needWords: Readonly<Record<Need['kind'], string>> = {
  needed: 'needed',
  adapted: 'adapted to',
  optional: 'optional',
};

/** Longest answer of an endpoint that is shown. */
const detailCharactersMax = 300;

/** A table of all probes, what differs below it, and the verdict. */
export function formatReport({ diagnoses, verdict, left }: DoctorReport): string {
  const table = formatTable(
    [
      ...[{ heading: 'SERVICE' }, { heading: 'CAPABILITY' }, { heading: 'RESULT' }],
      { heading: 'FOR HOLDFAST' },
    ],
    diagnoses.map(({ service, capability, need, finding }) => [
      ...[service, capability, words[finding.result]],
      `${needWords[need.kind]}: ${need.text}`,
    ]),
  );
  const details = formatDetails(diagnoses);
  const colour = ({ usable: 'green', unusable: 'red', unknown: 'yellow' } as const)[verdict.kind];
  return [
    table,
    ...(details === '' ? [] : [details]),
    ...(left.length === 0 ? [] : [`left behind, remove it by hand:\n- ${left.join('\n- ')}`]),
    styleText(colour, verdict.text, { stream: process.stdout }),
  ].join('\n\n');
}

/** Probes that found the same are told together. */
function formatDetails(diagnoses: readonly Diagnosis[]): string {
  const told = new Map<string, string[]>();
  for (const { service, capability, finding } of diagnoses) {
    const text = describe(finding);
    if (text === undefined) continue;
    told.set(text, [...(told.get(text) ?? []), `${service}: ${capability}`]);
  }
  return [...told].map(([text, names]) => `${names.join('\n')}\n${text}`).join('\n\n');
}

function describe(finding: Finding): string | undefined {
  switch (finding.result) {
    case 'works':
      return finding.note === undefined ? undefined : `  ${shorten(finding.note)}`;
    case 'differs':
      return `  expected ${shorten(finding.expected)}\n  came     ${shorten(finding.got)}`;
    case 'missing':
      return `  came     ${shorten(finding.got)}`;
    case 'untried':
      return `  since    ${shorten(finding.why)}`;
  }
}

function shorten(text: string): string {
  return text.length > detailCharactersMax ? `${text.slice(0, detailCharactersMax)}…` : text;
}
