import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/workspace/load-config.ts';
import { isJsonObject, type JsonValue } from '../../src/domain/json.ts';
import { makePathIds } from '../../src/workspace/find-prompt-paths.ts';
import { FrontMatterShape, LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { nodesIn, parseMarkdown } from '../support/markdown.ts';
import { wrongInWorkflow } from '../support/workflow.ts';
import { anchorsIn, PAGES, readPage } from './pages.ts';
import { blocksIn, type Block } from './steps.ts';
import { ROOT } from './worlds.ts';

const LANGUAGES = ['', 'sh', 'console', 'yaml', 'markdown', 'json', 'text', 'js', 'ts', 'python', 'dockerfile', 'diff'];

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksIn(readPage(page));

  test(`every code block in ${page} uses a supported language`, () => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
  });

  const examples = blocks.filter(({ language }) => ['yaml', 'markdown'].includes(language));
  test.for(examples)(`the $language example in ${page} at line $line is valid`, (block) => {
    expect(wrongIn(block)).toEqual([]);
  });

  const elsewhere = blocks.flatMap(({ text, directives, line }) => {
    const where = directives.get('elsewhere');
    return where === undefined ? [] : text.split('\n').map((command) => ({ command, where, line }));
  });
  test.for(elsewhere)(
    `the script $where runs the command $command that ${page} shows at line $line`,
    ({ command, where }) => {
      expect(runsIn(where, command)).toBe(true);
    },
  );

  test(`${page} refers only to existing tests`, () => {
    expect(namedIn(readPage(page)).filter((named) => !isThere(named))).toEqual([]);
  });
});

describe.each([...PAGES, 'test/README.md', 'bench/README.md'])('%s', (page) => {
  test(`${page} links only to existing files and headings`, () => {
    expect(linksIn(readPage(page)).filter((address) => !leadsSomewhere(page, address))).toEqual([]);
  });
});

test('test/README.md links to every test file', () => {
  const listed = linksIn(readPage('test/README.md')).filter((address) => address.endsWith('.test.ts'));
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  expect(listed.toSorted()).toEqual(files.filter((file) => file.endsWith('.test.ts')).toSorted());
});

test('docs/README.md links to every page in docs/', () => {
  const linked = linksIn(readPage('docs/README.md')).map((address) => join('docs', address));
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
});

test('docs/guarantees.md and docs/SECURITY.md name a test for every guarantee and every excluded attack', () => {
  const promises = sectionsIn(readPage('docs/guarantees.md'));
  expect(promises.length).toBeGreaterThan(6);
  expect(promises.filter((section) => testsIn(section).length === 0)).toEqual([]);
  const attacks = sectionsIn(readPage('docs/SECURITY.md')).filter((section) => listIn(section, PREVENTED) !== '');
  expect(attacks).toHaveLength(5);
  expect(attacks.flatMap(unprovenIn)).toEqual([]);
  expect(attacks.flatMap((section) => bulletsIn(listIn(section, PREVENTED))).length).toBeGreaterThan(20);
});

describe('the checks of pages', () => {
  const pinned = `a/promptsync@${'0'.repeat(40)}`;

  test.each([
    ['the docs check reports an unknown setting', 'yaml', 'prompt: [a]'],
    ['the docs check reports an invalid pin', 'yaml', 'pins: { staging: newest }'],
    ['the docs check reports a prompt file without an id', 'markdown', '---\nkey: a\nname: b\n---\n\nText.'],
    [
      'the docs check reports an action that is pinned to a tag',
      'yaml',
      'jobs: { a: { steps: [{ uses: actions/checkout@v6 }] } }',
    ],
    [
      'the docs check reports an unknown action input',
      'yaml',
      `jobs: { a: { steps: [{ uses: ${pinned}, with: { key: a } }] } }`,
    ],
    [
      'the docs check reports an unknown action output',
      'yaml',
      `jobs: { a: { steps: [{ id: b, uses: ${pinned} }, { run: 'echo \${{ steps.b.outputs.none }}' }] } }`,
    ],
  ])('%s', (_, language, text) => {
    const [block] = blocksIn(`\`\`\`${language}\n${text}\n\`\`\``);
    expect(wrongIn(block!)).toHaveLength(1);
  });

  const INDEX = '[test/index.test.ts](../test/index.test.ts)';
  test.each([
    ['the docs check reports a nonexistent test file', '[test/none.test.ts](../test/none.test.ts): "a"', false],
    ['the docs check reports a quoted test title that lacks its beginning', `${INDEX}: "a complete sync"`, false],
    ['the docs check accepts a test title on two lines', `${INDEX}: "The public API\n  supports a complete"`, true],
    ['the docs check accepts a test title in a code span', `${INDEX}: \`The public API\``, true],
  ])('%s', (_, text, exists) => {
    expect(namedIn(text).map(isThere)).toEqual([exists]);
  });

  test('the docs check reports each excluded attack without a titled test, and each test of an unknown attack', () => {
    const tests = [
      `- **Theft**\n  - ${INDEX}: "The public API"`,
      `- **Fire**\n  - ${INDEX}`,
      `- **Snow**\n  - ${INDEX}`,
    ];
    const section = `promptsync prevents these attacks:\n\n- **Theft.** Never.\n- **Fire.**\n- **Rain**: ${INDEX}: "The public"`;
    const details = `<details><summary>Tests</summary>\n\n${tests.join('\n')}\n\n</details>`;
    expect(unprovenIn(`## A thief\n\n${section}\n\n${details}\n`)).toEqual(['Fire', 'Rain', 'Snow']);
  });

  test.each(['docs/nowhere.md', 'README.md#nowhere', '#nowhere', '../../etc/passwd'])(
    'the docs check reports a broken link to %s',
    (address) => {
      expect(leadsSomewhere('README.md', address)).toBe(false);
    },
  );

  test('the docs check rejects a command that is only part of a command in .ci/run', () => {
    expect(runsIn('.ci/run', 'npm test')).toBe(false);
  });
});

/** Returns the errors of an example. An example for another program is marked, and has none. */
function wrongIn(block: Block): readonly unknown[] {
  if (block.directives.has('other')) return [];
  if (block.language === 'markdown') {
    // Only a file with empty front matter may take its id from its path. All other examples show the id.
    const hasNoFields = block.text.startsWith('---\n---\n');
    const pathIds = hasNoFields ? makePathIds({ folder: '/', patterns: ['*.md'] }) : null;
    return parsePromptFile(Buffer.from(block.text), 'prompt.md', { ...LENIENT_SETTINGS, pathIds }).problems;
  }
  const value: JsonValue = parse(block.text);
  if (!isJsonObject(value)) return ['no mapping'];
  if ('jobs' in value) return wrongInWorkflow(value);
  if (Object.keys(value).every((key) => key in FrontMatterShape.shape && key !== 'service' && key !== 'variables')) {
    return FrontMatterShape.partial().safeParse(value).error?.issues ?? [];
  }
  const place = { file: '/promptsync.yaml', shownPath: 'promptsync.yaml', root: '/', environment: {} };
  return parseConfig(block.text, place).problems;
}

/** Returns whether the script runs exactly this command line, in quotes after `check`. */
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

/** The sentence above the list of the attacks or problems that a section of docs/SECURITY.md excludes. */
const PREVENTED = /promptsync prevents these (?:attacks|problems):$/m;
const NOT_PREVENTED = /^promptsync does not prevent these (?:attacks|problems):$/m;

/** Returns the sections of a page that begin with a heading of the second level. */
function sectionsIn(markdown: string): readonly string[] {
  return markdown.split(/^(?=## )/m).slice(1);
}

/** Returns the text from a sentence to the next sentence of its kind or to the folded list of tests. */
function listIn(section: string, sentence: RegExp): string {
  const [, list = ''] = section.split(sentence);
  return list.split(NOT_PREVENTED)[0]!.split('<details>')[0]!;
}

/** Returns the folded lists of tests in a section. */
function foldedIn(section: string): string {
  const folded = section.matchAll(/^<details><summary>Tests<\/summary>\n\n([\s\S]*?)\n\n<\/details>$/gm);
  return [...folded].map(([, list]) => list).join('\n');
}

/** Returns the tests in the folded lists that have a title. */
function testsIn(section: string): readonly Named[] {
  return namedIn(foldedIn(section)).filter(({ title }) => title !== null);
}

/** Returns the items of a list, each with the bold name at its beginning. Without such a name, the text is the name. */
function bulletsIn(list: string): readonly { readonly name: string; readonly text: string }[] {
  const items = list.split(/^- /m).slice(1);
  return items.map((text) => ({
    name: /^\*\*([^*]+?)\.?\*\*/.exec(text)?.[1]?.replaceAll(/\s+/g, ' ') ?? text.trim(),
    text,
  }));
}

/**
 * Returns the names of the excluded attacks that have no titled test in the folded list, and the names in the folded
 * list that are not names of attacks in the section.
 */
function unprovenIn(section: string): readonly string[] {
  const proven = bulletsIn(foldedIn(section));
  const [, possible = ''] = section.split(NOT_PREVENTED);
  const excluded = bulletsIn(listIn(section, PREVENTED)).map(({ name }) => name);
  const known = [...excluded, ...bulletsIn(possible).map(({ name }) => name)];
  const provenNames = proven
    .filter(({ text }) => namedIn(text).some(({ title }) => title !== null))
    .map(({ name }) => name);
  return [
    ...excluded.filter((name) => !provenNames.includes(name)),
    ...proven.map(({ name }) => name).filter((name) => !known.includes(name)),
  ];
}

/** Returns whether the test file contains a string, such as a title or a row of a table, that begins with the title. */
function isThere({ file, title }: Named): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  const source = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\\(['"`])/g, '$1');
  return title === null || ['"', "'", '`'].some((quote) => source.includes(quote + title));
}

/** Returns the links to files in the repository. */
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

/** Returns the anchors of a page from a cache, because many links lead to the same large pages. */
function anchorsOf(page: string): readonly string[] {
  const anchors = known.get(page) ?? anchorsIn(readPage(page));
  known.set(page, anchors);
  return anchors;
}
