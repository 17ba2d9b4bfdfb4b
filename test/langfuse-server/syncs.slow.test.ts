import { afterAll, beforeAll, expect, test } from 'vitest';
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
async function readVersions(name: string): Promise<readonly string[]> {
  const versions = await server.versions(name);
  return versions.map(({ text, labels }) => {
    return [text, ...labels.filter((label) => label !== 'latest').toSorted()].join(' ');
  });
}

const STAGING = { staging: 'latest' };
const BOTH = { staging: 'latest', production: 'latest' };

test('a sync creates a text prompt with exactly the same bytes as in the file, and later versions for a changed text or config', async () => {
  const id = server.newName();
  const text = 'Cafe\u0301 {{name}}\r\n\n\u{1f600} "quoted" \\ <b>';
  const stored = text.replaceAll('\r\n', '\n');
  const workspace = await openWorkspace(server);
  const metadata = { model: 'm', temperature: 0.2, tools: [{ name: 'search' }] };
  expect(await sync(workspace, { id, text, pins: BOTH, metadata })).toEqual(['POST']);
  const pins = { staging: 'latest', production: 1 };
  // A file without metadata keeps the config.
  expect(await sync(workspace, { id, text: 'Two.', pins })).toEqual(['POST']);
  expect(await sync(workspace, { id, text: 'Two.', pins, metadata: { model: 'b' } })).toEqual(['POST']);
  const versions = await server.versions(id);
  expect(versions.map((version) => [version.text, version.config])).toEqual([
    [stored, metadata],
    ['Two.', metadata],
    ['Two.', { model: 'b' }],
  ]);
  expect(await readVersions(id)).toEqual([`${stored} production`, 'Two.', 'Two. staging']);
});

test('a sync creates a chat prompt with its roles, a placeholder and an escaped marker', async () => {
  const id = server.newName();
  const text = '{{role "system"}}\nHelp.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n\\{{role "x"}}';
  await sync(await openWorkspace(server), { id, type: 'chat', text, pins: STAGING });
  const [version] = await server.versions(id);
  expect(JSON.parse(version?.text ?? '')).toEqual([
    { role: 'system', content: 'Help.' },
    { type: 'placeholder', name: 'history' },
    { role: 'user', content: '{{role "x"}}' },
  ]);
});

test('a sync moves labels to reverted text, to a pinned version and back from where somebody moved them, and creates no version', async () => {
  const id = server.newName();
  const workspace = await openWorkspace(server);
  await sync(workspace, { id, text: 'One.', pins: BOTH });
  await sync(workspace, { id, text: 'Two.', pins: BOTH });
  expect(await sync(workspace, { id, text: 'One.', pins: BOTH })).toEqual(['PATCH']);
  expect(await readVersions(id)).toEqual(['One. production staging', 'Two.']);
  expect(await sync(workspace, { id, text: 'One.', pins: { ...BOTH, production: 2 } })).toEqual(['PATCH']);
  expect(await readVersions(id)).toEqual(['One. staging', 'Two. production']);
  await server.create(id, 'Theirs.', ['production']);
  requireSuccess(await workspace.run('sync', '--yes'));
  expect(await readVersions(id)).toEqual(['One. staging', 'Two. production', 'Theirs.']);
});

test("a sync creates the part of a composed prompt first, even if the part's file comes last", async () => {
  const [composed, part] = [server.newName(), server.newName()];
  const text = `Read @@@langfusePrompt:name=${part}|label=staging@@@.`;
  await sync(
    await openWorkspace(server),
    { id: composed, text, pins: STAGING },
    { id: part, text: 'this', pins: STAGING },
  );
  expect([await readVersions(composed), await readVersions(part)]).toEqual([[`${text} staging`], ['this staging']]);
});

test('a sync after an import writes nothing', async () => {
  const id = server.newName();
  await server.create(id, 'One.', ['staging']);
  await server.create(id, 'Two.', ['production']);
  const workspace = await openWorkspace(server);
  requireSuccess(await workspace.run('import', id));
  expect(await sync(workspace)).toEqual([]);
});
