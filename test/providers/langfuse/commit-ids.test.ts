import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';

const CONFIGURED = { 'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n` };

function makeFile(text: string, pins = '{ staging: latest }'): string {
  return `---\nid: a\npins: ${pins}\n---\n\n${text}\n`;
}

/** Makes a repository with one prompt and an empty Langfuse. `commit` commits a change and returns the short commit id. */
async function makeScene() {
  const langfuse = await startLangfuse();
  const folder = makeRepository({ ...CONFIGURED, 'prompts/a.md': makeFile('One.') });
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
    sync: async () => (await run(folder, ['sync', '--yes'], langfuse)).exitCode,
    messages: () => langfuse.store.versions('a').map(({ commitMessage }) => commitMessage),
    readVersions: async () => {
      const { report } = await runJson(folder, ['history'], langfuse);
      return report.prompts[0]?.history?.versions ?? [];
    },
  };
}

describe('the commit ids in the commit messages of Langfuse versions', () => {
  test("sync stores the subject and id of the commit that last changed the file as the version's commit message", async () => {
    const { sync, commit, first, messages, folder } = await makeScene();
    expect(await sync()).toBe(0);
    git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'Something else');
    const tag = 'release';
    git(folder, 'tag', tag);
    const second = commit(
      { 'prompts/a.md': makeFile('Two.', `{ production: 'git:${tag}', staging: latest }`) },
      'Edit',
    );
    expect(await sync()).toBe(0);
    expect(messages()).toEqual([`First prompts (${first})`, `Edit (${second})`]);
  });

  test("if a file pins a tag, the version's commit message names the last commit before the tag that changed the file", async () => {
    const { sync, commit, first, messages, folder } = await makeScene();
    git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'Something else');
    git(folder, 'tag', 'release');
    const second = commit({ 'prompts/a.md': makeFile('Two.', '{ production: git:release }') }, 'Edit');
    expect(await sync()).toBe(0);
    expect(messages()).toEqual([`First prompts (${first})`, `Edit (${second})`]);
  });

  test('a version from an uncommitted file has no commit message', async () => {
    const { langfuse, folder, messages } = await makeScene();
    writeFiles(folder, { 'prompts/a.md': makeFile('Not committed.') });
    expect((await run(folder, ['sync', '--yes', '--allow-dirty', '--any-commit'], langfuse)).exitCode).toBe(0);
    expect(messages()).toEqual([null]);
  });

  test("history shows the commit named in a version's message, even after the file has moved", async () => {
    const { sync, commit, first, readVersions, folder } = await makeScene();
    expect(await sync()).toBe(0);
    git(folder, 'mv', 'prompts/a.md', 'prompts/moved.md');
    const second = commit({ 'prompts/moved.md': makeFile('Two.') }, 'Edit and move');
    expect(await sync()).toBe(0);
    expect(await readVersions()).toMatchObject([
      { made_by: 'git', commit: expect.stringContaining(second), subject: 'Edit and move', path: 'prompts/moved.md' },
      { made_by: 'git', commit: expect.stringContaining(first), subject: 'First prompts', path: 'prompts/a.md' },
    ]);
  });

  test("plan names the commit in a version's message if the clone does not have that commit", async () => {
    const { langfuse, sync, commit, folder } = await makeScene();
    expect(await sync()).toBe(0);
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', folder, clone);
    const second = commit({ 'prompts/a.md': makeFile('Two.') }, 'Edit');
    expect(await sync()).toBe(0);
    const { report } = await runJson(clone, ['plan'], langfuse);
    expect(report.prompts[0]?.drift).toMatchObject([{ observed: { commit: second, commit_missing: true } }]);
  });

  test("history does not trust the commit id in a version's message if the file had different text at that commit, or if the id is only the name of a tag", async () => {
    const { store, first, folder, readVersions, commit } = await makeScene();
    store.addVersion('a', { text: 'Somebody wrote this.', message: `First prompts (${first})` });
    commit({ 'prompts/a.md': makeFile('Two.') }, 'Edit');
    const unknown = '0123456789ab';
    git(folder, 'tag', unknown);
    store.addVersion('a', { text: 'Two.', message: `Edit (${unknown})` });
    const versions = await readVersions();
    expect(versions.map(({ made_by: by, commit: found }) => [by, found])).toEqual([
      ['unknown', undefined],
      ['unknown', undefined],
    ]);
  });

  test.each(['tag', 'branch'])(
    'history shows the commit that a message names even if a %s of another commit has the name of its short id',
    async (kind) => {
      const { sync, commit, first, readVersions, folder } = await makeScene();
      expect(await sync()).toBe(0);
      commit({ 'prompts/a.md': makeFile('Two.') }, 'Edit');
      git(folder, kind, first);
      expect(await readVersions()).toMatchObject([{ made_by: 'git', commit: expect.stringContaining(first) }]);
    },
  );
});
