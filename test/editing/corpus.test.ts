import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editPromptFile, type FrontMatterEdit } from '../../src/editing/edit-prompt-file.ts';
import { LENIENT_SETTINGS } from '../../src/workspace/parse-prompt-file.ts';
import { corpus } from '../workspace/front-matter-corpus.ts';
import { changeService, startTestService } from '../support/service.ts';
import { makeWorkspace } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { run } from '../support/run.ts';

// test/editing/edit-laws.test.ts checks what the editor may change in every file of the corpus. This test checks for each
// style of front matter that the commands change no more.
const STYLES = [
  ...['comments everywhere', 'no pins', 'flow pins with blanks', 'JSON as a whole', 'explicit keys'],
  'a byte order mark and CRLF',
];
const chosen = STYLES.map((style) => corpus[style] ?? '');
const names = STYLES.map((_, index) => String(index));

function editFrontMatter(source: string, frontMatter: readonly FrontMatterEdit[]): string {
  const result = editPromptFile(Buffer.from(source), 'prompt.md', { frontMatter }, LENIENT_SETTINGS);
  if (!result.isSuccess) throw new Error(result.problems[0]?.message);
  return Buffer.from(result.value.bytes).toString();
}

const set = (field: string, value: string) => ({ path: [field], value });

test('promote and rollback change only one pin in each prompt file', async () => {
  const service = await startTestService(names);
  const ids: string[][] = [];
  for (const name of names) {
    const first = await changeService(service.baseUrl, name, 'production', 'First.');
    ids.push([first, await changeService(service.baseUrl, name, 'staging', 'Second.')]);
  }
  const pinned = (source: string, prompt: number, number: number) => {
    const value = `version:${ids[prompt]?.[number - 1]}`;
    return editFrontMatter(source, [{ path: ['pins', 'production'], value, comment: String(number) }]);
  };
  const sources = chosen.map((source, index) =>
    editFrontMatter(source, [set('id', `prm_${index}`), set('key', `key-${index}`)]),
  );
  const files = Object.fromEntries(sources.map((source, index) => [`prompts/${index}.md`, source]));
  const folder = makeWorkspace({ 'promptsync.yaml': CONFIG, ...files });
  const read = () => names.map((name) => readFileSync(join(folder, `prompts/${name}.md`), 'utf8'));
  const promptsync = (...words: readonly string[]) => run(folder, words, service);

  // Some files pin production to `latest`. Their text is newer than the version in staging.
  const promoted = await promptsync('promote', '--all', '--from', 'staging', '--to', 'production', '--allow-older');
  expect(promoted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${names.length} files edited.`) });
  const promotedSources = sources.map((source, index) => pinned(source, index, 2));
  expect(read()).toEqual(promotedSources);

  await promptsync('rollback', '**', '--environment', 'production', '--to', '1');
  expect(read()).toEqual(promotedSources.map((source, index) => pinned(source, index, 1)));
  expect(service.requests.filter(({ method }) => method !== 'GET').length).toBe(names.length * 4);
});
