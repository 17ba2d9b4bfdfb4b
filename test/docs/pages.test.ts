import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { isJsonObject, type JsonValue } from '../../src/domain/json.ts';
import { FrontMatterShape, parsePromptFile } from '../../src/files/parse.ts';
import { nodesIn, parseMarkdown } from '../support/markdown.ts';
import { wrongInWorkflow } from '../support/workflow.ts';
import { anchorsIn, PAGES, readPage } from './pages.ts';
import { blocksIn, type Block } from './steps.ts';
import { ROOT } from './worlds.ts';

const LANGUAGES = ['', 'sh', 'console', 'yaml', 'markdown', 'json', 'text', 'js', 'ts', 'diff'];

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksIn(readPage(page));

  test('has only blocks of languages that are looked at here', () => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
  });

  const examples = blocks.filter(({ language }) => ['yaml', 'markdown'].includes(language));
  test.for(examples)('the $language of line $line is valid', (block) => {
    expect(wrongIn(block)).toEqual([]);
  });

  const elsewhere = blocks.flatMap(({ text, directives, line }) => {
    const where = directives.get('elsewhere');
    return where === undefined ? [] : text.split('\n').map((command) => ({ command, where, line }));
  });
  test.for(elsewhere)('line $line: `$command` is run by $where', ({ command, where }) => {
    expect(runsIn(where, command)).toBe(true);
  });

  test('names only tests that there are', () => {
    expect(namedIn(readPage(page)).filter((named) => !isThere(named))).toEqual([]);
  });
});

describe.each([...PAGES, 'test/README.md', 'bench/README.md'])('%s', (page) => {
  test('has links only to files and headings that there are', () => {
    expect(linksIn(readPage(page)).filter((address) => !leadsSomewhere(page, address))).toEqual([]);
  });
});

test('docs/README.md leads to every page of docs/', () => {
  const led = linksIn(readPage('docs/README.md')).map((address) => join('docs', address));
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(pages.filter((page) => !led.includes(page))).toEqual([]);
});

test('each promise of docs/guarantees.md, and all that docs/SECURITY.md says to be impossible, names a test', () => {
  const promises = readPage('docs/guarantees.md').split(/^(?=## )/m);
  const lists = readPage('docs/SECURITY.md').split(/^(?:It|They) cannot:$/m);
  const refusals = lists.slice(1).flatMap((text) =>
    text
      .replace(/^(?:It|They) can\b[\s\S]*/m, '')
      .split(/^- /m)
      .slice(1),
  );
  expect(promises.length).toBeGreaterThan(6);
  expect(refusals.length).toBeGreaterThan(10);
  const unnamed = [...promises.slice(1), ...refusals].filter((one) =>
    namedIn(one).every(({ title }) => title === null),
  );
  expect(unnamed).toEqual([]);
});

describe('What is wrong is seen:', () => {
  const pinned = `a/promptsync@${'0'.repeat(40)}`;

  test.each([
    ['a setting that there is not', 'yaml', 'prompt: [a]'],
    ['a service in two places', 'yaml', 'service: { base_url: https://a.example, embedded: a.db }'],
    ['a pin that is none', 'yaml', 'pins: { staging: newest }'],
    ['a prompt file without an id', 'markdown', '---\nkey: a\nname: b\n---\n\nText.'],
    ['an action by its tag', 'yaml', 'jobs: { a: { steps: [{ uses: actions/checkout@v6 }] } }'],
    ['an input that there is not', 'yaml', `jobs: { a: { steps: [{ uses: ${pinned}, with: { key: a } }] } }`],
    [
      'an output that there is not',
      'yaml',
      `jobs: { a: { steps: [{ id: b, uses: ${pinned} }, { run: 'echo \${{ steps.b.outputs.none }}' }] } }`,
    ],
  ])('%s', (_, language, text) => {
    const [block] = blocksIn(`\`\`\`${language}\n${text}\n\`\`\``);
    expect(wrongIn(block!)).toHaveLength(1);
  });

  test.each([
    ['a test of a file that is not there', '[test/none.test.ts](../test/none.test.ts): "a"', false],
    ['a title that is not there', '[test/index.test.ts](../test/index.test.ts): "the public API is a whale"', false],
    ['the end of a title alone', '[test/index.test.ts](../test/index.test.ts): "a whole sync"', false],
    ['not a title over two lines', '[test/index.test.ts](../test/index.test.ts): "the public API\n  is a whole"', true],
    ['not a code span', '[test/architecture.test.ts](../test/architecture.test.ts): `the dependency rule`', true],
  ])('%s', (_, text, there) => {
    expect(namedIn(text).map(isThere)).toEqual([there]);
  });

  test.each(['docs/nowhere.md', 'README.md#nowhere', '#nowhere', '../../etc/passwd'])('a link to %s', (address) => {
    expect(leadsSomewhere('README.md', address)).toBe(false);
  });

  test('a command that is only part of one that .ci/run runs', () => {
    expect(runsIn('.ci/run', 'npm test')).toBe(false);
  });
});

/** What is wrong with an example; what is of another program says so. */
function wrongIn(block: Block): readonly unknown[] {
  if (block.directives.has('other')) return [];
  if (block.language === 'markdown') return parsePromptFile(Buffer.from(block.text), 'prompt.md').problems;
  const value: JsonValue = parse(block.text);
  if (!isJsonObject(value)) return ['no mapping'];
  if ('jobs' in value) return wrongInWorkflow(value);
  if (Object.keys(value).every((key) => key in FrontMatterShape.shape && key !== 'service' && key !== 'variables')) {
    return FrontMatterShape.partial().safeParse(value).error?.issues ?? [];
  }
  const place = { file: '/promptsync.yaml', shownPath: 'promptsync.yaml', root: '/', environment: {} };
  return parseConfig(block.text, place).problems;
}

/** In quotes after `check`, as one command line. */
function runsIn(script: string, command: string): boolean {
  const lines = readPage(script).split('\n');
  return lines.some((line) => line.startsWith('check ') && line.endsWith(` '${command}'`));
}

/** `[test/room/name.test.ts](../test/room/name.test.ts): "title"`, the title in straight quotes or as a code span. */
const NAMED = /\[(test\/[\w./-]+\.test\.ts)\]\([^)]*\)(?::\s+("[^"]+"|`[^`]+`))?/g;

type Named = { readonly file: string; readonly title: string | null };

function namedIn(markdown: string): readonly Named[] {
  return [...markdown.matchAll(NAMED)].map(([, file = '', title]) => ({
    file,
    title: title === undefined ? null : title.slice(1, -1).replaceAll(/\s+/g, ' '),
  }));
}

/** Titles stand in the sources as strings, in rows of tables as well; the beginning of one is enough. */
function isThere({ file, title }: Named): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  const source = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\\(['"`])/g, '$1');
  return title === null || ['"', "'", '`'].some((quote) => source.includes(quote + title));
}

/** Those within the repository. */
function linksIn(markdown: string): readonly string[] {
  const addresses = nodesIn(parseMarkdown(markdown)).flatMap((node) => ('url' in node ? [node.url] : []));
  return addresses.filter((address) => !/^(https?|mailto):/.test(address));
}

function leadsSomewhere(page: string, address: string): boolean {
  const [path = '', anchor] = address.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (target.startsWith('..') || !existsSync(join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  return statSync(join(ROOT, target)).isFile() && anchorsOf(target).includes(anchor);
}

const known = new Map<string, readonly string[]>();

/** Large pages are linked to many times. */
function anchorsOf(page: string): readonly string[] {
  const anchors = known.get(page) ?? anchorsIn(readPage(page));
  known.set(page, anchors);
  return anchors;
}
