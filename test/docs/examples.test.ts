import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { parsePromptFile, FrontMatterShape } from '../../src/files/parse.ts';
import { isJsonObject, type JsonValue } from '../../src/domain/json.ts';
import { wrongInWorkflow } from '../support/workflow.ts';
import { blocksIn, type Block } from './steps.ts';
import { PAGES, readPage } from './pages.ts';

const LANGUAGES = ['', 'sh', 'console', 'yaml', 'markdown', 'json', 'text', 'ts', 'diff'];

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksIn(readPage(page));

  test('has only blocks of languages that are looked at here', () => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
  });

  const examples = blocks.filter(({ language }) => ['yaml', 'markdown'].includes(language));
  test.for(examples)('the $language of line $line is valid', (block) => {
    expect(wrongIn(block)).toEqual([]);
  });
});

const PINNED = `a/promptsync@${'0'.repeat(40)}`;

test.each([
  ['a setting that there is not', 'yaml', 'prompt: [a]'],
  ['a service in two places', 'yaml', 'service: { base_url: https://a.example, embedded: a.db }'],
  ['a pin that is none', 'yaml', 'pins: { staging: newest }'],
  ['a prompt file without an id', 'markdown', '---\nkey: a\nname: b\n---\n\nText.'],
  ['an action by its tag', 'yaml', 'jobs: { a: { steps: [{ uses: actions/checkout@v6 }] } }'],
  ['an input that there is not', 'yaml', `jobs: { a: { steps: [{ uses: ${PINNED}, with: { key: a } }] } }`],
  [
    'an output that there is not',
    'yaml',
    `jobs: { a: { steps: [{ id: b, uses: ${PINNED} }, { run: 'echo \${{ steps.b.outputs.none }}' }] } }`,
  ],
])('%s is seen', (_, language, text) => {
  const [block] = blocksIn(`\`\`\`${language}\n${text}\n\`\`\``);
  expect(wrongIn(block!)).toHaveLength(1);
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
  return problemsOfConfig(block.text);
}

function problemsOfConfig(text: string): readonly unknown[] {
  return parseConfig(text, { file: '/promptsync.yaml', shownPath: 'promptsync.yaml', root: '/', environment: {} })
    .problems;
}
