import { describe, expect, test } from 'vitest';
import { commandsIn, HOSTILE, INVISIBLE } from '../report/corpus.ts';
import { git } from '../support/folder.ts';
import { expectInert } from '../support/markdown.ts';
import { run } from '../support/run.ts';
import { makeStory } from './history-story.ts';

const both = (production: string | number) => ({ staging: 'latest', production });

describe('history', () => {
  const names = Object.entries(HOSTILE).filter(([, text]) => !/[\0\n<>]/.test(text) && text.isWellFormed());

  test('history prints hostile commit subjects and author names as inert text in every output format', async () => {
    const { folder, edit, options } = await makeStory({ pins: both('latest') });
    for (const [index, [, text]] of names.entries()) {
      await edit({ pins: both('latest'), text: `Text ${index}` }, `${text} (#${index})`, 3);
      git(folder, 'commit', '--quiet', '--amend', '--no-edit', `--author=x${text} <a@example.com>`);
    }
    const environment = { ...options.environment, GITHUB_ACTIONS: 'true' };
    for (const format of ['text', 'markdown', 'json']) {
      for (const words of [
        ['history', 'greeting'],
        ['history', 'greeting', '-e', 'staging'],
      ]) {
        const { stdout } = await run(folder, [...words, '--format', format], { environment });
        expect(stdout.length).toBeGreaterThan(100);
        expect(commandsIn(stdout)).toEqual([]);
        expect(stdout.split('\n').filter((line) => INVISIBLE.test(line))).toEqual([]);
        if (format === 'markdown') expectInert(stdout);
      }
    }
  }, 60_000);
});
