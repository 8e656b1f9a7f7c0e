import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { benches } from '../../bench/benches.ts';
import { fillPlaces, listPlaces, readResults } from '../../bench/harness/document.ts';
import { projectRoot, readText } from '../house/project-files.ts';

const document = readText('docs/performance.md');
const resultsOf = (name: string) => readResults(path.join(projectRoot, 'bench/results'), name);

describe('docs/performance.md', () => {
  it('has a place for the figures of each bench', () => {
    expect(listPlaces(document).sort()).toEqual(benches.map(({ name }) => name).sort());
  });

  it('has the figures of the committed results there', () => {
    expect(document).toBe(fillPlaces(document, resultsOf));
  });
});

describe('figures in a document', () => {
  const page =
    'a\n\n<!-- bench: one -->\n\nold\n\n<!-- end -->\n\nb\n\n<!-- bench: two -->\n<!-- end -->\n';

  it('are those of the results, with where they are from, and leave all else as it is', () => {
    const machine = { node: 'v24.0.0', platform: 'x', cpu: 'A CPU', cores: 2, memoryBytes: 1 };
    const columns = [
      { field: 'what', heading: 'what' },
      { field: 'share', heading: 'of it', digits: 2 },
    ];
    const rows = [{ what: 'this', share: 0.5 }, { what: 'that' }];
    const results = {
      measuredAt: '2025-01-31T12:00:00.000Z',
      machine,
      tables: [{ title: 'Shares', columns, rows }],
    };
    const filled = fillPlaces(page, (name) => (name === 'one' ? results : undefined));
    expect(filled.split('\n')).toEqual([
      'a',
      '',
      '<!-- bench: one -->',
      '',
      'Measured 2025-01-31, 2 cores of A CPU, Node v24.0.0.',
      '',
      'Shares:',
      '',
      '| what | of it |',
      '| ---- | ----: |',
      '| this |  0.50 |',
      '| that |     - |',
      '',
      '<!-- end -->',
      '',
      'b',
      '',
      '<!-- bench: two -->',
      '',
      'No figures yet: `npm run bench -- two --write` on a quiet machine puts them here.',
      '',
      '<!-- end -->',
      '',
    ]);
  });

  it('stay when they are put there again', () => {
    const once = fillPlaces(page, () => undefined);
    expect(fillPlaces(once, () => undefined)).toBe(once);
  });
});
