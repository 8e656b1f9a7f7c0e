import { formatVerdict } from '../../../cli/demo/format-verdict.ts';
import { formatBytes, formatFacts } from '../../../cli/table.ts';
import { describeEndpoint } from '../find-endpoint.ts';
import type { OpenEndpoint } from '../open-endpoint.ts';
import type { EndpointDemoResult } from './run-endpoint-demo.ts';

/** The report for people. */
export function formatDemo(
  report: EndpointDemoResult & { readonly endpoint: OpenEndpoint },
): string {
  const { endpoint, savepoint, restore, seconds, differences } = report;
  const facts = [
    ['endpoint', describeEndpoint(endpoint)],
    ['deployed', `in ${seconds['deploy']} s`],
    ['records', `${format(report.records)} in ${seconds['process']} s, ${report.shards} shards`],
    [
      'savepoint',
      `behind ${format(report.savepointBehind)} records, ${format(savepoint.keys)} keys, ${formatBytes(savepoint.bytes)}, in ${seconds['savepoint']} s`,
    ],
    [
      'restore',
      `into generation ${restore.generation}, ${format(restore.replayed)} records replayed, ${format(restore.removedRows)} rows removed, in ${seconds['restore']} s`,
    ],
  ] as const;
  const verdict = formatVerdict({ ...report.comparisons.restored, differences });
  const times = differences.length === 0 ? '\nSo they did before the restore.' : '';
  return `${formatFacts(facts)}\n\n${verdict}${times}`;
}

function format(value: number): string {
  return value.toLocaleString('en-US');
}
