import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Files, git, makeFolder } from '../../support/folder.ts';
import { runJson } from '../../support/run.ts';
import { makeScene } from './scene.ts';

function makeFile(text: string, pins = '{ staging: latest }'): string {
  return `---\nid: a\npins: ${pins}\n---\n\n${text}\n`;
}

/** Makes a repository with one prompt and an empty Langfuse. `commit` returns the short id of the commit. */
async function makeCommitted() {
  const { commit, ...scene } = await makeScene({ 'prompts/a.md': makeFile('One.') });
  return {
    ...scene,
    first: git(scene.folder, 'rev-parse', 'HEAD').slice(0, 12),
    commit: (files: Files, message: string) => commit(files, message).slice(0, 12),
    sync: async (...flags: readonly string[]) => {
      expect((await scene.run('sync', '--yes', ...flags)).exitCode).toBe(0);
    },
    messages: () => scene.store.versions('a').map(({ commitMessage }) => commitMessage),
    readVersions: async () => (await scene.json('history')).report.prompts[0]?.history?.versions ?? [],
  };
}

test("A version's commit message names the commit that last changed the file, and plan and history find this commit", async () => {
  const { langfuse, folder, first, commit, sync, messages, readVersions } = await makeCommitted();
  git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'Something else');
  git(folder, 'tag', 'release');
  // The version for the tag comes from the last commit before the tag that changed the file.
  const second = commit({ 'prompts/a.md': makeFile('Two.', '{ staging: git:release }') }, 'Edit');
  await sync();
  expect(messages()).toEqual([`First prompts (${first})`, `Edit (${second})`]);
  const clone = join(makeFolder(), 'clone');
  git(folder, 'clone', '--quiet', folder, clone);
  git(folder, 'mv', 'prompts/a.md', 'prompts/moved.md');
  const third = commit({ 'prompts/moved.md': makeFile('Three.', '{ staging: latest }') }, 'Edit and move');
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
  const { store, first, folder, write, sync, messages, readVersions, commit } = await makeCommitted();
  store.addVersion('a', { text: 'Somebody wrote this.', message: `First prompts (${first})` });
  commit({ 'prompts/a.md': makeFile('Two.') }, 'Edit');
  const unknown = '0123456789ab';
  git(folder, 'tag', unknown);
  store.addVersion('a', { text: 'Two.', message: `Edit (${unknown})` });
  write({ 'prompts/a.md': makeFile('Not committed.') });
  await sync('--allow-dirty', '--any-commit');
  expect(messages().at(-1)).toBeNull();
  const versions = await readVersions();
  expect(versions.map(({ made_by: by, commit: found }) => [by, found])).toEqual([
    ['unknown', undefined],
    ['unknown', undefined],
    ['unknown', undefined],
  ]);
});
