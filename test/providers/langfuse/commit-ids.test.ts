import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';

function makeFile(text: string, pins = '{ staging: latest }'): string {
  return `---\nid: a\npins: ${pins}\n---\n\n${text}\n`;
}

/** Makes a repository with one prompt and an empty Langfuse. `commit` commits a change and returns the short commit id. */
async function makeScene() {
  const langfuse = await startLangfuse();
  const config = `${CONFIG}service: { provider: langfuse }\n`;
  const folder = makeRepository({ 'promptsync.yaml': config, 'prompts/a.md': makeFile('One.') });
  const readHead = () => git(folder, 'rev-parse', 'HEAD').slice(0, 12);
  return {
    langfuse,
    store: langfuse.store,
    folder,
    first: readHead(),
    commit: (files: Readonly<Record<string, string>>, message: string): string => {
      writeFiles(folder, files);
      commitAll(folder, message);
      return readHead();
    },
    sync: async (...flags: readonly string[]) => {
      expect((await run(folder, ['sync', '--yes', ...flags], langfuse)).exitCode).toBe(0);
    },
    messages: () => langfuse.store.versions('a').map(({ commitMessage }) => commitMessage),
    readVersions: async () => {
      const { report } = await runJson(folder, ['history'], langfuse);
      return report.prompts[0]?.history?.versions ?? [];
    },
  };
}

test("A version's commit message names the commit that last changed the file, and plan and history find this commit", async () => {
  const { langfuse, folder, first, commit, sync, messages, readVersions } = await makeScene();
  git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'Something else');
  git(folder, 'tag', 'release');
  // The version for the tag comes from the last commit before the tag that changed the file.
  const second = commit({ 'prompts/a.md': makeFile('Two.', '{ production: git:release }') }, 'Edit');
  await sync();
  expect(messages()).toEqual([`First prompts (${first})`, `Edit (${second})`]);
  const clone = join(makeFolder(), 'clone');
  git(folder, 'clone', '--quiet', folder, clone);
  git(folder, 'mv', 'prompts/a.md', 'prompts/moved.md');
  const third = commit({ 'prompts/moved.md': makeFile('Three.', '{ production: latest }') }, 'Edit and move');
  await sync();
  // The short id of a commit may also be the name of a tag or a branch of another commit.
  git(folder, 'tag', first);
  git(folder, 'branch', second);
  expect(await readVersions()).toMatchObject([
    { made_by: 'git', commit: expect.stringContaining(third), subject: 'Edit and move', path: 'prompts/moved.md' },
    { made_by: 'git', commit: expect.stringContaining(second), subject: 'Edit', path: 'prompts/a.md' },
    { made_by: 'git', commit: expect.stringContaining(first), subject: 'First prompts', path: 'prompts/a.md' },
  ]);
  const { report } = await runJson(clone, ['plan'], langfuse);
  expect(report.prompts[0]?.drift).toMatchObject([{ observed: { commit: third, commit_missing: true } }]);
});

test("history does not trust the commit id in a version's message if the text differs, or if the id is only the name of a tag", async () => {
  const { store, first, folder, sync, messages, readVersions, commit } = await makeScene();
  store.addVersion('a', { text: 'Somebody wrote this.', message: `First prompts (${first})` });
  commit({ 'prompts/a.md': makeFile('Two.') }, 'Edit');
  const unknown = '0123456789ab';
  git(folder, 'tag', unknown);
  store.addVersion('a', { text: 'Two.', message: `Edit (${unknown})` });
  writeFiles(folder, { 'prompts/a.md': makeFile('Not committed.') });
  await sync('--allow-dirty', '--any-commit');
  expect(messages().at(-1)).toBeNull();
  const versions = await readVersions();
  expect(versions.map(({ made_by: by, commit: found }) => [by, found])).toEqual([
    ['unknown', undefined],
    ['unknown', undefined],
    ['unknown', undefined],
  ]);
});
