import { describe, expect, test } from 'vitest';
import { commitAll, commitEdits, git, makeRepository, writeFiles } from '../support/folder.ts';
import { handOn, startFront } from '../support/front.ts';
import { begin as beginScene, PATH, PROMOTION, told, type Scene } from '../support/promotion.ts';
import { type Reported, run } from '../support/run.ts';
import { changeOutside, type Outside, pinned } from '../commands/pulling.ts';

const APPLIED = 'exit 0, greeting applied';
const UNCHANGED = 'exit 0, greeting unchanged';
const BOTH = ['staging', 'production'];
const SAME: Outside = { content: 'One.', environments: BOTH };
const DIFFERENT: readonly Outside[] = [{ ...SAME, environments: ['production'] }, { content: 'Two.' }];
const ROLLBACK = ['rollback', 'greeting', '--environment', 'production', '--to', '1', '--commit'];
const BASE = ['--base', 'HEAD~1', '--on-drift', 'fail'];

/** A prompt of which the service has these versions, imported and committed. */
async function adopt(...versions: readonly Outside[]): Promise<Scene> {
  const scene = await beginScene({}, { makeFolder: () => makeRepository({ 'promptsync.yaml': PROMOTION }) });
  for (const version of versions.length > 0 ? versions : [SAME]) changeOutside(scene, version);
  expect(await scene.run('import', 'prm_greeting')).toMatchObject({ exitCode: 0 });
  commitAll(scene.folder, 'Import');
  return scene;
}

/** The same after its first sync. */
async function adoptAndSync(...versions: readonly Outside[]): Promise<Scene> {
  const scene = await adopt(...versions);
  expect(told(await sync(scene))).toBe(APPLIED);
  return scene;
}

const sync = (scene: Scene, ...words: readonly string[]) => scene.runJson('sync', '--yes', ...words);
const kinds = ({ report }: Reported) => report.prompts[0]?.drift.map(({ kind }) => kind);

function edit(scene: Scene, from: string | RegExp, to: string): void {
  writeFiles(scene.folder, { [PATH]: scene.read().replace(from, to) });
  commitEdits(scene.folder, 'Edit');
}

/** Somebody edits in the service's pages, and makes that active everywhere. */
function meddle(scene: Scene): void {
  changeOutside(scene, { content: 'Theirs.', environments: BOTH });
}

/** How many versions promptsync has sent: what others make in these stories goes past the socket. */
function sent({ service: { requests } }: Scene): number {
  return requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/versions')).length;
}

/** Syncs; afterwards nothing is left to do. Gives what the environments serve. */
async function settled(scene: Scene): Promise<string> {
  expect((await sync(scene)).exitCode).toBe(0);
  expect(told(await scene.runJson('plan', '--exit-code'))).toBe(UNCHANGED);
  expect(told(await sync(scene))).toBe(UNCHANGED);
  return BOTH.map((environment) => scene.serves(environment)).join(' ');
}

describe('the first sync of an adopted prompt', () => {
  test.each(['text', 'markdown', 'html'])('is explained in one line: %s', async (format) => {
    const { stdout } = await (await adopt()).run('plan', '--format', format);
    expect(stdout.match(/baseline: a version with .* record; nothing that is served changes/g)).toHaveLength(1);
  });

  test('makes a baseline, counts as no change, moves nothing that is served, and is asked for once', async () => {
    const scene = await adopt();
    const ran = await sync(scene, '--max-changes', '0');
    expect(ran.report.prompts).toMatchObject([
      { status: 'applied', changes: [{ kind: 'create-version', baseline: true, status: 'made' }] },
    ]);
    expect(scene.service.takeWrites()).toEqual(['POST prm_greeting versions', 'set-active prm_greeting promptsync']);
    expect(await settled(scene)).toBe('v1 v1');
    expect(sent(scene)).toBe(0);
  });

  test.each<[string, string, string]>([
    ['where nothing else is planned but a field', 'name: greeting', 'name: Hello'],
    ['where the text is edited', 'One.', 'Two.'],
  ])('makes no plan stale that somebody else has reviewed: %s', async (_, from, to) => {
    const scene = await adopt();
    edit(scene, from, to);
    const { report } = await scene.runJson('plan');
    git(scene.folder, 'checkout', '--quiet', 'HEAD~1');
    expect(told(await sync(scene))).toBe(APPLIED);
    git(scene.folder, 'checkout', '--quiet', 'main');
    expect(told(await sync(scene, '--expect-plan', report.plan_digest!))).toBe(APPLIED);
  });
});

describe('what somebody edits in the service afterwards, in staging and production,', () => {
  test.each<[string, (scene: Scene) => unknown]>([
    ['is put back by the next sync, by the old id', () => {}],
    [
      'does not keep git revert from going back to the old id',
      async (scene) => {
        edit(scene, 'One.', 'Two.');
        expect(told(await sync(scene))).toBe(APPLIED);
        git(scene.folder, 'revert', '--no-edit', 'HEAD');
      },
    ],
    [
      'leaves version 1 known to rollback, by its number',
      async (scene) => {
        edit(scene, /production: .*/, `production: ${pinned(scene)}`);
        expect(told(await sync(scene))).toBe(APPLIED);
        expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
        expect(scene.read()).toContain('production: 1\n');
      },
    ],
    [
      'makes no other pull request red',
      async (scene) => {
        commitAll(scene.folder, 'Words');
        const ran = await scene.runJson('plan', '--base', 'HEAD~1');
        expect([told(ran), kinds(ran)]).toEqual(['exit 0, greeting pending', ['outside', 'outside']]);
      },
    ],
  ])('%s', async (_, story) => {
    const scene = await adoptAndSync();
    meddle(scene);
    await story(scene);
    expect(await settled(scene)).toBe('v1 v1');
  });

  test('is put back to each of two texts where they serve different ones', async () => {
    const scene = await adoptAndSync(...DIFFERENT);
    meddle(scene);
    expect(await settled(scene)).toBe('v2 v1');
    expect(sent(scene)).toBe(1);
  });
});

test.each<[string, readonly string[], readonly Outside[]]>([
  ['everywhere', BOTH, [SAME]],
  ['everywhere, where another text was pinned', BOTH, DIFFERENT],
  ['where nothing follows the file', ['production'], [SAME]],
])('pull takes over what somebody has edited %s, without a conflict', async (_, environments, versions) => {
  const scene = await adoptAndSync(...versions);
  changeOutside(scene, { content: 'Theirs.', environments });
  expect(told(await scene.runJson('pull'))).toBe(APPLIED);
  expect(scene.read()).toMatch(/---\n\nTheirs\.\n$/);
  commitEdits(scene.folder, 'Pull');
  expect(await settled(scene)).toMatch(/^(v\d) \1$/);
});

test('before the first sync promote and rollback pin ids, with the numbers behind them', async () => {
  const scene = await adopt(...DIFFERENT);
  expect(told(await scene.runJson('promote', 'greeting', '--to', 'production', '--commit'))).toBe(APPLIED);
  expect(scene.read()).toMatch(/production: version:\S+ {2}# 2\n/);
  expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(scene.read()).toMatch(/production: version:\S+ {2}# 1\n/);
});

test('what somebody edits between the import and the first sync blocks nothing', async () => {
  const scene = await adopt();
  meddle(scene);
  // Nobody knows any more that staging served version 1; production's pin does.
  expect(await settled(scene)).toBe('v3 v1');
});

describe('one version of promptsync’s, and an empty plan, come of', () => {
  /** A sync from which nothing is heard once the baseline is made. Then somebody activates that. */
  async function killed({ folder, service }: Scene): Promise<void> {
    let lost = false;
    const front = await startFront({
      target: service.baseUrl,
      answer: async (request) => {
        if (request.method === 'POST' && !lost) await handOn(request, service.baseUrl);
        lost ||= request.method === 'POST';
        if (lost) throw new Error('cut');
        return null;
      },
    });
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 4 });
    const { store } = service;
    const versionId = store.readPrompt('prm_greeting')!.latest_version_id!;
    for (const one of BOTH) store.setActive('prm_greeting', { environment: one, versionId });
  }

  const model = { ...SAME, metadata: { model: 'gpt-5' } };
  const withoutMetadata = (scene: Scene) => edit(scene, /metadata:\n.*\n/, '');

  test.each<[string, readonly Outside[], (scene: Scene) => unknown, string]>([
    ['a draft with the very text that is active nowhere', [SAME, { ...SAME, environments: [] }], () => {}, 'v1 v1'],
    ['a baseline whose run was killed, and that somebody then activated', [], killed, 'v2 v1'],
    [
      'the same and a pin to its number',
      [],
      async (scene) => {
        await killed(scene);
        edit(scene, /production: .*/, 'production: 2');
      },
      'v2 v2',
    ],
    ['metadata taken out before the first sync', [model], withoutMetadata, 'v1 v1'],
    ['metadata taken out after it', [model], (scene) => sync(scene).then(() => withoutMetadata(scene)), 'v1 v1'],
  ])('%s', async (_, versions, prepare, expected) => {
    const scene = await adopt(...versions);
    await prepare(scene);
    expect(await settled(scene)).toBe(expected);
    expect(sent(scene)).toBe(1);
  });
});

describe('of an adopted prompt, what stands there between merge and apply', () => {
  test.each([
    ['before its first sync', adopt],
    ['after it', adoptAndSync],
  ])('is unfinished, and does not block the last of two quick merges: %s', async (_, start) => {
    const scene = await start();
    edit(scene, 'One.', 'Two.');
    edit(scene, 'Two.', 'Three.');
    expect(kinds(await scene.runJson('plan', ...BASE))).toEqual(['unfinished']);
    expect(told(await sync(scene, ...BASE))).toBe(APPLIED);
  });

  test.each<[string, string, readonly string[]]>([
    ['is unfinished where the clone knows the branch’s tip', 'remotes/origin', ['unfinished']],
    ['is outside where it does not', 'heads/elsewhere', ['outside']],
  ])('of a merge commit that main has left behind %s', async (_, where, expected) => {
    const scene = await adoptAndSync();
    commitAll(scene.folder, 'Words');
    edit(scene, 'One.', 'Two.');
    await sync(scene);
    git(scene.folder, 'remote', 'add', 'origin', '/nowhere');
    git(scene.folder, 'update-ref', `refs/${where}/main`, 'HEAD');
    git(scene.folder, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    git(scene.folder, 'reset', '--quiet', '--hard', 'HEAD~1');
    expect(kinds(await scene.runJson('plan', '--base', 'HEAD~1'))).toEqual(expected);
  });
});

test('line breaks at the end are no change, be they the service’s, an editor’s or a formatter’s', async () => {
  const ends = { greeting: '', a: '\n', b: '\r\n', c: '\r\n\n', d: '\n\n\n' };
  const makeFolder = () => makeRepository({ 'promptsync.yaml': PROMOTION });
  const scene = await beginScene({}, { others: { a: {}, b: {}, c: {}, d: {} }, makeFolder });
  const ids = Object.entries(ends).map(([id, end]) => {
    changeOutside(scene, { id, content: `One.\r\nTwo.${end}`, environments: BOTH });
    return id;
  });
  expect(await scene.run('import', ...ids.map((id) => `prm_${id}`))).toMatchObject({ exitCode: 0 });
  commitAll(scene.folder, 'Import');
  expect(await sync(scene)).toMatchObject({ exitCode: 0, report: { summary: { create_version: 5, set_active: 0 } } });
  const files = Object.fromEntries(ids.map((id) => [`prompts/${id}.md`, scene.read(`prompts/${id}.md`)]));
  for (const text of Object.values(files)) expect(text).toMatch(/\n\nOne\.\nTwo\.\n$/);
  const edits = Object.values(ends).map((end) => (text: string) => text.trimEnd() + end);
  for (const change of [...edits, (text: string) => text.replaceAll('\n', '\r\n')]) {
    writeFiles(scene.folder, Object.fromEntries(Object.entries(files).map(([path, text]) => [path, change(text)])));
    commitEdits(scene.folder, 'Format');
    expect((await scene.runJson('plan', '--exit-code')).exitCode).toBe(0);
  }
});
