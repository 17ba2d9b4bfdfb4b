import { describe, expect, test } from 'vitest';
import { commitAll, copyExample, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { startFront, type Front } from '../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startServe } from '../support/cli.ts';
import { KEY } from '../support/service.ts';

/** What the issue says must be seen when promptsync works against `promptsync serve` in another process. */

type Stage = {
  readonly folder: string;
  readonly front: Front;
  /** Commits the prompt so and syncs; the writes that were sent. */
  readonly sync: (parts: PromptParts, message?: string) => Promise<readonly string[]>;
  /** Runs a command line against the service. */
  readonly promptsync: (...words: readonly string[]) => ReturnType<typeof run>;
};

/** A repository with one prompt that was synced once. */
async function makeStage(parts: PromptParts): Promise<Stage> {
  const folder = makeRepository(workspaceFiles({ greeting: parts }));
  const { baseUrl } = await startServe(folder, ['--db', '.git/service.db', '--seed']);
  const front = await startFront({ target: baseUrl });
  const environment = { PROMPTSYNC_BASE_URL: front.baseUrl, PROMPTSYNC_API_KEY: KEY };
  const promptsync = (...words: readonly string[]) => run(folder, words, { environment });
  const sync = async (next: PromptParts, message = 'Edit') => {
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', next) });
    commitAll(folder, message);
    expect(await promptsync('sync', '--yes')).toMatchObject({ exitCode: 0 });
    return front.takeWrites();
  };
  await promptsync('sync', '--yes');
  front.takeWrites();
  return { folder, front, sync, promptsync };
}

const both = { staging: 'latest', production: 'latest' };

describe('against promptsync serve in another process', () => {
  test('the example workspace: versions are created, then there is nothing to do, then an edit is pending', async () => {
    const folder = makeFolder();
    copyExample(folder);
    const { baseUrl } = await startServe(folder, ['--db', 'service.db', '--seed']);
    const front = await startFront({ target: baseUrl });
    const options = { environment: { PROMPTSYNC_BASE_URL: front.baseUrl, PROMPTSYNC_API_KEY: KEY } };

    const first = await run(folder, ['sync', '--yes'], options);
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('3 created') });
    expect(front.takeWrites().filter((write) => write.includes('versions'))).toHaveLength(3);

    const second = await run(folder, ['sync', '--yes'], options);
    expect(second).toEqual({ exitCode: 0, stdout: 'nothing to do: 3 prompts in sync.\n', stderr: '' });
    expect(front.takeWrites()).toEqual([]);

    writeFiles(folder, { 'prompts/summary.md': promptText('summary', { key: 'summary', text: 'Shorter.' }) });
    const plan = await run(folder, ['sync', '--dry-run', '--exit-code'], options);
    expect(plan).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('+Shorter.') });
  });

  test.each([
    ['an edit', { pins: both, text: 'Second text.' }, ['staging', 'production']],
    ['an edit that one environment follows', { pins: { staging: 'latest' }, text: 'Second text.' }, ['staging']],
  ])('git revert of %s sends no version', async (_, next, environments) => {
    const { folder, front, sync, promptsync } = await makeStage({ pins: next.pins });
    await sync(next);
    git(folder, 'revert', '--no-edit', 'HEAD');
    expect(await promptsync('sync', '--yes')).toMatchObject({ exitCode: 0 });
    const writes = front.takeWrites();
    expect(writes.filter((write) => write.includes('versions'))).toEqual([]);
    const served = writes.filter((write) => !write.endsWith('-look') && !write.endsWith(' promptsync'));
    expect(served).toEqual(environments.map((environment) => `set-active prm_greeting ${environment}`));
  });

  test('git revert of a moved pin sends one set-active, and no version', async () => {
    const { folder, front, sync, promptsync } = await makeStage({ pins: { staging: 'latest' } });
    await sync({ pins: { staging: 'latest', production: 1 }, text: 'Second text.' });
    await sync({ pins: { staging: 'latest', production: 2 }, text: 'Second text.' }, 'Promote');
    git(folder, 'revert', '--no-edit', 'HEAD');
    expect(await promptsync('sync', '--yes')).toMatchObject({ exitCode: 0 });
    const writes = front.takeWrites().filter((write) => !write.endsWith('-look'));
    expect(writes).toEqual(['set-active prm_greeting production']);
    expect(await promptsync('sync', '--yes')).toMatchObject({ stdout: expect.stringContaining('nothing to do') });
    expect(front.takeWrites()).toEqual([]);
  });
});
