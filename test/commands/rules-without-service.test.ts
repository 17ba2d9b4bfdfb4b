import { describe, expect, test } from 'vitest';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { PATH, PROMOTION } from '../support/promotion.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { makeWorld } from '../support/world.ts';

const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: true, yes: false, exitCode: false, allowDirty: false },
  ...{ base: 'HEAD~1', asking: 'never' },
};

/** What a review without a key says of a change of the prompt: its status, and the codes of its problems. */
async function review(base: PromptParts, head: PromptParts): Promise<readonly (string | undefined)[]> {
  const folder = makeRepository(workspaceFiles({ greeting: base }, PROMOTION));
  writeFiles(folder, { [PATH]: promptText('greeting', head) });
  commitAll(folder, 'Head');
  const { run } = await sync(OPTIONS, makeWorld(folder));
  expect(run.problems.map(({ code }) => code)).toEqual(['service/not-asked']);
  const prompt = run.plan?.prompts[0];
  return [prompt?.status, ...(prompt?.problems ?? []).map(({ code }) => code)];
}

describe('a review that does not ask the service', () => {
  test.each<[string, PromptParts, PromptParts]>([
    [
      'refuses no promotion: nobody knows what staging serves',
      { pins: { staging: 'latest', production: 4 } },
      { pins: { staging: 'latest', production: 5 } },
    ],
    [
      'refuses no text for not being known',
      { pins: { staging: 'latest', production: 'latest' } },
      { pins: { staging: 'latest', production: 5 } },
    ],
  ])('%s', async (_, base, head) => {
    expect(await review(base, head)).toEqual(['pending']);
  });
});
