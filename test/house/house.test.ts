import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  isCode,
  listFiles,
  listSources,
  readManifest,
  readPeerDependencies,
  readText,
} from './project-files.ts';

const linesMax = 400;
const medianLinesMax = 160;

const sources = listSources();
const code = [...sources, ...listFiles('test').filter(isCode)];
const texts = listFiles().filter((file) => !/\.(bin|png|gz|zst)$/.test(file));
const manuals = texts.filter((file) => file.endsWith('.md'));

/** `file:line: text` for each line of these files that matches. */
function findLines(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) => {
    const lines = readText(file).split('\n');
    return lines.flatMap((line, index) => {
      return pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [];
    });
  });
}

function countLines(file: string): number {
  return readText(file).trimEnd().split('\n').length;
}

describe('files', () => {
  it('are named in kebab case', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/;
    expect(code.filter((file) => !kebab.test(path.basename(file)))).toEqual([]);
  });

  it('lie in folders named in kebab case', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
    const folders = new Set(code.map((file) => path.dirname(file)));
    const misnamed = [...folders].filter((folder) => {
      return !folder.split('/').every((name) => kebab.test(name));
    });
    expect(misnamed).toEqual([]);
  });

  it('are named after what is in them', () => {
    const empty = /(^|[/-])(utils?|helpers?|types?|common|misc|index)\.[a-z]+$/;
    expect(code.filter((file) => empty.test(file))).toEqual([]);
  });

  it(`have at most ${linesMax} lines, in the sources`, () => {
    const long = sources.map((file) => ({ file, lines: countLines(file) }));
    expect(long.filter(({ lines }) => lines > linesMax)).toEqual([]);
  });

  it(`have at most ${medianLinesMax} lines in the middle, in the sources`, () => {
    const lines = sources.map(countLines).sort((a, b) => a - b);
    expect(lines[Math.floor(lines.length / 2)]).toBeLessThanOrEqual(medianLinesMax);
  });

  it('are modules of their own, not lists of what others export', () => {
    const barrels = code.filter((file) => {
      const statements = readText(file)
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
        .split(';')
        .filter((statement) => statement.trim() !== '');
      return (
        statements.length > 0 && statements.every((one) => /^\s*export\b[^=(]*\bfrom\b/.test(one))
      );
    });
    expect(barrels).toEqual([]);
  });
});

describe('code', () => {
  it('re-exports no whole modules', () => {
    expect(findLines(code, /^\s*export\s+(type\s+)?\*/)).toEqual([]);
  });

  it('never turns types off', () => {
    expect(findLines(code, /\bas any(?= *($|[;,)\]}.]))|<any>\(|@ts-(ignor[e]|nochec[k])/)).toEqual(
      [],
    );
  });

  it('says why where it silences a check', () => {
    const silenced = findLines(code, /eslint-disabl[e]|@ts-expect-erro[r]/);
    const unexplained = silenced.filter((line) => {
      return !/eslint-disable.*? -- \S|@ts-expect-error \S/.test(line);
    });
    expect(unexplained).toEqual([]);
  });

  it('is finished', () => {
    expect(findLines([...code, ...manuals], /\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b/)).toEqual([]);
  });
});

describe('tests', () => {
  const tests = code.filter((file) => file.startsWith('test/'));

  it('run, all of them', () => {
    expect(findLines(tests, /\b(it|test|describe)\.(only|skip|todo|fails)\b/)).toEqual([]);
  });

  it('have titles that say what happens', () => {
    expect(findLines(tests, /\b(it|test)(\.\w+)*\(\s*['"`]should\b/)).toEqual([]);
  });

  it('replace no modules', () => {
    expect(findLines(tests, /\bvi\.(mock|doMock|hoisted)\(/)).toEqual([]);
  });

  it('lie in files that the test run finds', () => {
    const lost = tests.filter((file) => {
      const isSuite = /^\s*(describe|it)(\.each)?\(/m.test(readText(file));
      const isFound = /\.(test|contract)\.ts$/.test(file);
      const isImported = /^export (async )?function/m.test(readText(file));
      return isSuite && !isFound && !isImported;
    });
    expect(lost).toEqual([]);
  });
});

describe('texts', () => {
  it('name no folder of the machine that they were written on', () => {
    const home = /(?<![\w.:/$}-])(\/(home|root|Users|work|mnt|private)\/\w|[A-Z]:\\\\?Users)/;
    expect(findLines(texts, home)).toEqual([]);
  });

  it('name no package registry', () => {
    const registry =
      /\bregistry\.([\w-]+\.)+(org|com|net|io|dev|cloud|internal)\b|npm\.pkg\.github|pythonhoste[d]|pypi\.org\/simple|artifactor[y]|codeartifac[t]|^registry=/i;
    expect(findLines(texts, registry)).toEqual([]);
  });

  it('lock packages by version and digest, not by where they came from', () => {
    const locks = ['package-lock.json', 'bench/peers/package-lock.json'];
    expect(findLines(locks, /"resolved":/)).toEqual([]);
  });

  it('link to files that exist', () => {
    const files = new Set(listFiles());
    const broken = manuals.flatMap((file) => {
      const links = readText(file).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)]*)?\)/g);
      return [...links]
        .map(([, link]) => path.posix.join(path.posix.dirname(file), link!))
        .map((link) => link.replace(/\/$/, ''))
        .filter(
          (link) => !files.has(link) && ![...files].some((other) => other.startsWith(`${link}/`)),
        )
        .map((link) => `${file} → ${link}`);
    });
    expect(broken).toEqual([]);
  });
});

describe('package.json', () => {
  const { scripts, dependencies, devDependencies } = readManifest();
  const peers = readPeerDependencies();

  it('pins every package to one version', () => {
    const versions = [dependencies, devDependencies, peers].flatMap(Object.entries<string>);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('has every package explained in docs/dependencies.md, and no other is', () => {
    // A line of a table or list that begins with the package's name in backticks, linked or not.
    const entries = readText('docs/dependencies.md').matchAll(/^(?:\||[-*]) *\[?`([^`]+)`/gm);
    const explained = [...entries].map(([, name]) => name!);
    const declared = [dependencies, devDependencies, peers].flatMap(Object.keys);
    expect([...new Set(explained)].sort()).toEqual([...new Set(declared)].sort());
  });

  it('has the scripts that the manuals tell readers to run', () => {
    const named = manuals.flatMap((file) => [...scriptsNamedIn(file)]);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('has no script that README.md hides, except parts of others', () => {
    const named = scriptsNamedIn('README.md');
    const isPart = (name: string) => {
      return Object.values(scripts).some((script) => runsScript(script, name));
    };
    const hidden = Object.keys(scripts).filter((name) => !named.has(name) && !isPart(name));
    expect(hidden).toEqual([]);
  });
});

function scriptsNamedIn(file: string): Set<string> {
  const names = readText(file).matchAll(
    /\bnpm (?:run(?: -s| --silent)? ([\w:-]+)|(test|start)\b)/g,
  );
  return new Set([...names].map(([, run, lifecycle]) => run ?? lifecycle!));
}

function runsScript(script: string, name: string): boolean {
  return script
    .split(/ *&& */)
    .some((step) => step === `npm run ${name}` || step === `npm ${name}`);
}
