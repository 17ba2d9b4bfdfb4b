import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ran } from '../support/run.ts';
import { openLangfuseServer, type LangfuseServer } from './server.ts';
import { openWorkspace, type PromptFile, type Workspace } from './workspace.ts';

let server: LangfuseServer;
beforeAll(async () => void (server = await openLangfuseServer()));
afterAll(() => server.close());

/** Commits the files and syncs them. Expects that a plan right after the sync is empty. Returns the writes. */
async function sync({ commit, run, takeWrites }: Workspace, ...files: readonly PromptFile[]) {
  commit(...files);
  takeWrites();
  requireSuccess(await run('sync', '--yes'));
  const writes = takeWrites();
  requireSuccess(await run('plan', '--exit-code'));
  return writes;
}

/** Throws with everything that the command has printed if its exit code is not 0. */
function requireSuccess({ exitCode, stdout, stderr }: Ran): void {
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stdout}${stderr}`);
}

/** Returns each version of a prompt as its text and its labels without `latest`. */
async function readVersions(name: string): Promise<readonly (readonly [text: string, labels: string])[]> {
  const versions = await server.versions(name);
  return versions.map(({ text, labels }) => [
    text,
    labels
      .filter((label) => label !== 'latest')
      .toSorted()
      .join(' '),
  ]);
}

const BOTH = { staging: 'latest', production: 'latest' };

describe('a sync with a Langfuse server', () => {
  test('a sync creates a text prompt with exactly the same bytes as in the file, and with its labels and config', async () => {
    const id = server.newName();
    const text = 'Cafe\u0301 {{name}}\r\n\n\u{1f600} "quoted" \\ <b>';
    const workspace = await openWorkspace(server);
    const metadata = { model: 'm', temperature: 0.2, tools: [{ name: 'search' }] };
    expect(await sync(workspace, { id, text, pins: BOTH, metadata })).toEqual(['POST']);
    expect(await server.versions(id)).toMatchObject([{ text: text.replaceAll('\r\n', '\n'), config: metadata }]);
    expect((await readVersions(id)).map(([, labels]) => labels)).toEqual(['production staging']);
  });

  test('a sync creates a chat prompt with its roles, a placeholder and an escaped marker', async () => {
    const id = server.newName();
    const text = '{{role "system"}}\nHelp.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n\\{{role "x"}}';
    await sync(await openWorkspace(server), { id, type: 'chat', text, pins: { staging: 'latest' } });
    const [version] = await server.versions(id);
    expect(JSON.parse(version?.text ?? '')).toEqual([
      { role: 'system', content: 'Help.' },
      { type: 'placeholder', name: 'history' },
      { role: 'user', content: '{{role "x"}}' },
    ]);
  });

  test('a sync of edited text creates one version that keeps the config, and moves only the label whose pin is latest', async () => {
    const id = server.newName();
    const workspace = await openWorkspace(server);
    await sync(workspace, { id, text: 'One.', pins: BOTH, metadata: { model: 'm' } });
    const pins = { staging: 'latest', production: 1 };
    expect(await sync(workspace, { id, text: 'Two.', pins })).toEqual(['POST']);
    expect(await readVersions(id)).toEqual([
      ['One.', 'production'],
      ['Two.', 'staging'],
    ]);
    expect((await server.versions(id)).map(({ config }) => config)).toEqual([{ model: 'm' }, { model: 'm' }]);
  });

  test('a sync of changed metadata creates a version with the same text', async () => {
    const id = server.newName();
    const workspace = await openWorkspace(server);
    await sync(workspace, { id, text: 'One.', pins: BOTH, metadata: { model: 'a' } });
    await sync(workspace, { id, text: 'One.', pins: BOTH, metadata: { model: 'b' } });
    expect((await server.versions(id)).map(({ text, config }) => [text, config])).toEqual([
      ['One.', { model: 'a' }],
      ['One.', { model: 'b' }],
    ]);
  });

  test('a sync of reverted text moves both labels back with one request and creates no version', async () => {
    const id = server.newName();
    const workspace = await openWorkspace(server);
    await sync(workspace, { id, text: 'One.', pins: BOTH });
    await sync(workspace, { id, text: 'Two.', pins: BOTH });
    expect(await sync(workspace, { id, text: 'One.', pins: BOTH })).toEqual(['PATCH']);
    expect(await readVersions(id)).toEqual([
      ['One.', 'production staging'],
      ['Two.', ''],
    ]);
  });

  test('a sync of a pinned version number moves the label to that version', async () => {
    const id = server.newName();
    const workspace = await openWorkspace(server);
    await sync(workspace, { id, text: 'One.', pins: { staging: 'latest' } });
    await sync(workspace, { id, text: 'Two.', pins: { staging: 'latest' } });
    const pins = { staging: 'latest', production: 1 };
    expect(await sync(workspace, { id, text: 'Two.', pins })).toEqual(['PATCH']);
    expect(await readVersions(id)).toEqual([
      ['One.', 'production'],
      ['Two.', 'staging'],
    ]);
  });

  test("a sync creates the part of a composed prompt first, even if the part's file comes last", async () => {
    const [composed, part] = [server.newName(), server.newName()];
    const text = `Read @@@langfusePrompt:name=${part}|label=staging@@@.`;
    const pins = { staging: 'latest' };
    await sync(await openWorkspace(server), { id: composed, text, pins }, { id: part, text: 'this', pins });
    expect([await readVersions(composed), await readVersions(part)]).toEqual([
      [[text, 'staging']],
      [['this', 'staging']],
    ]);
  });

  test('a sync after an import writes nothing', async () => {
    const id = server.newName();
    await server.create(id, 'One.', ['staging']);
    await server.create(id, 'Two.', ['production']);
    const workspace = await openWorkspace(server);
    requireSuccess(await workspace.run('import', id));
    expect(await sync(workspace)).toEqual([]);
  });

  test('a sync restores a label that somebody moved in Langfuse', async () => {
    const id = server.newName();
    const workspace = await openWorkspace(server);
    const file = { id, text: 'One.', pins: BOTH };
    await sync(workspace, file);
    await server.create(id, 'Theirs.', ['production']);
    requireSuccess(await workspace.run('sync', '--yes'));
    expect(await readVersions(id)).toEqual([
      ['One.', 'production staging'],
      ['Theirs.', ''],
    ]);
  });
});
