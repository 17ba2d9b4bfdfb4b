import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SECRET_KEY, startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import {
  commitAll,
  commitAllAt,
  git,
  initRepository,
  makeFolder,
  makeRepository,
  writeFiles,
} from '../../support/folder.ts';
import { handOn, startFront, type FrontAnswer, type FrontRequest } from '../../support/front.ts';
import { CONFIG } from '../../support/prompts.ts';
import { parseReport, run, runJson, type RunOptions } from '../../support/run.ts';
import { startTestService } from '../../support/service.ts';

const LANGFUSE = `service: { provider: langfuse }
environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

/** Makes a Langfuse with three prompts in one folder and two in another. No prompt has a file yet. */
async function makeStage() {
  const langfuse = await startLangfuse();
  const { store } = langfuse;
  store.addVersion('support/greeting', { text: 'One.', labels: ['production'], message: 'First\n\nWith a body.' });
  const config = { model: 'gpt-5', limits: { tokens: 300 } };
  store.addVersion('support/greeting', { text: 'Two.\n', config, labels: ['staging', 'canary'], message: 'Shorter' });
  store.addVersion('support/greeting', { text: 'Three.' });
  store.addVersion('support/refund', { text: 'Refund.', labels: ['staging', 'production'] });
  store.addVersion('support/two words', { text: 'List.', config: [1, 2], labels: ['staging'] });
  store.addVersion('team/a', { text: 'A.', labels: ['production', 'canary'] });
  store.addVersion('team/idle', { text: 'Idle.' });
  const folder = makeRepository({ 'promptsync.yaml': LANGFUSE });
  const runChecked = async (words: readonly string[], options: RunOptions = {}) => {
    const ran = await run(folder, words, { ...langfuse, ...options });
    expect(ran.stdout + ran.stderr).not.toContain(SECRET_KEY);
    return ran;
  };
  const json = async (...words: readonly string[]) => {
    const { stdout, exitCode } = await runChecked([...words, '--format', 'json']);
    return { exitCode, report: parseReport(stdout) };
  };
  return {
    folder,
    langfuse,
    store,
    runChecked,
    json,
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
  };
}

/** Makes the same Langfuse and imports the three prompts of the folder `support`. */
async function makeImported() {
  const stage = await makeStage();
  await stage.runChecked(['import', 'support/*']);
  commitAll(stage.folder, 'Import');
  stage.langfuse.requests.length = 0;
  return stage;
}

const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);

describe('import from Langfuse', () => {
  test('import reads the Langfuse listing and each label only once, and the next sync writes nothing', async () => {
    const { langfuse, read, runChecked, folder } = await makeStage();
    expect((await runChecked(['import', 'support/*'])).exitCode).toBe(0);
    const listings = langfuse.requests.filter(({ path }) => path.includes('page='));
    expect([listings.length, langfuse.requests.length]).toEqual([1, 1 + 3 * 2]);
    const greeting =
      'pins:\n  staging: latest\n  production: 1\nmetadata:\n  model: gpt-5\n  limits:\n    tokens: 300\n';
    expect(read('prompts/support/greeting.md')).toBe(`---\nid: support/greeting\n${greeting}---\n\nTwo.\n`);
    expect(read('prompts/support/refund.md')).toContain(
      'id: support/refund\npins:\n  staging: latest\n  production: 1\n---',
    );
    // A file cannot hold a config that is not a mapping. The version keeps the config.
    expect(read('prompts/support/two-words.md')).toBe(
      '---\nid: support/two words\npins:\n  staging: latest\n---\n\nList.\n',
    );
    commitAll(folder, 'Import');
    expect((await runChecked(['plan', '--exit-code'])).exitCode).toBe(0);
    expect((await runChecked(['sync', '--yes', '--any-commit'])).exitCode).toBe(0);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test.each<[sentence: string, names: readonly string[], exitCode: number, paths: readonly string[], codes: object]>([
    [
      'import accepts a mix of patterns and prompt names',
      ['*/a', 'support/refund'],
      0,
      ['support/refund', 'team/a'],
      [],
    ],
    [
      'import processes a prompt only once if several patterns match it',
      ['team/[a]', 'team/{a,b}', 'team/a'],
      0,
      ['team/a'],
      [],
    ],
    [
      'import skips and reports a Langfuse prompt that is not active in any environment',
      ['team/*'],
      3,
      ['team/a'],
      ['import/nothing-active'],
    ],
    [
      'import fails if one of its patterns matches no prompt',
      ['suport/gre?ting', 'team/a'],
      1,
      [],
      ['usage/nothing-selected'],
    ],
    ['import reports a prompt name that does not exist in Langfuse', ['team/aa'], 1, [], ['usage/nothing-selected']],
    [
      'import accepts chat prompts and text prompts in one pattern',
      ['**'],
      3,
      ['team/a', 'chat'],
      ['import/nothing-active'],
    ],
  ])('%s', async (_, names, exitCode, paths, expected) => {
    const { store, json, folder } = await makeStage();
    store.addChatPrompt('chat', ['staging']);
    const ran = await json('import', ...names);
    expect(ran.exitCode).toBe(exitCode);
    const { prompts, problems } = ran.report;
    expect(codes([...problems, ...prompts.flatMap((prompt) => prompt.problems)])).toEqual(expected);
    for (const path of paths) expect(existsSync(join(folder, `prompts/${path}.md`))).toBe(true);
    for (const { hint } of problems) expect(hint).toMatch(/Did you mean "(support\/greeting|team\/a)"\?/);
  });

  test('import counts matching prompts that already have a file, and does not read them from Langfuse', async () => {
    const { json, langfuse } = await makeImported();
    for (const names of [['support/*'], ['support/*', 'support/refund']]) {
      const { exitCode, report } = await json('import', ...names);
      expect({ exitCode, problems: report.problems }).toEqual({ exitCode: 0, problems: [] });
      expect(report.prompts.map(({ status }) => status)).toEqual(['unchanged', 'unchanged', 'unchanged']);
    }
    expect(langfuse.requests.every(({ path }) => path.includes('page='))).toBe(true);
    langfuse.requests.length = 0;
    expect(await json('import', 'support/refund')).toMatchObject({ exitCode: 0 });
    expect(langfuse.requests).toEqual([]);
  });
});

test.each<[command: string, flag: string, pattern: string, hint: string]>([
  ['import', 'support/*', '', 'Specify prompt ids instead of patterns.'],
  ['status', '--orphans', '', 'Omit `--orphans`.'],
  ['status', '--orphans', 'a*', 'Omit `--orphans`.'],
])('promptsync %s %s %s fails with a specific hint if the service cannot list prompts', async (...row) => {
  const hint = row[3];
  const words = row.slice(0, 3).filter((word) => word !== '');
  const service = await startTestService(['greeting']);
  const text = '---\nid: prm_greeting\nkey: a\nname: A\n---\n\nText.\n';
  const folder = makeRepository({
    'promptsync.yaml': `${CONFIG}environments: { staging: {} }\n`,
    'prompts/a.md': text,
  });
  const { exitCode, stdout } = await run(folder, [...words, '--format', 'json'], service);
  const { problems } = parseReport(stdout);
  expect([exitCode, codes(problems)]).toEqual([1, ['service/cannot-list']]);
  expect(problems[0]?.hint).toContain(hint);
});

describe('history with Langfuse', () => {
  test('history shows all Langfuse versions with their commit messages and labels', async () => {
    const { json } = await makeImported();
    const { report } = await json('history', 'support/greeting');
    const row = ({
      version_number,
      made_by,
      active_in,
      message,
    }: NonNullable<(typeof report.prompts)[number]['history']>['versions'][number]) => [
      version_number,
      made_by,
      active_in,
      message,
    ];
    expect(report.prompts[0]?.history?.versions.map(row)).toEqual([
      [3, 'unknown', [], undefined],
      [2, 'unknown', ['staging', 'canary'], 'Shorter'],
      [1, 'unknown', ['production'], 'First\n\nWith a body.'],
    ]);
    const { report: lineage } = await json('history', 'support/greeting', '-e', 'production');
    expect(lineage.prompts[0]?.lineage?.serves).toMatchObject({ version_number: 1, message: 'First\n\nWith a body.' });
  });

  test('history shows when and by whom each Langfuse version was created', async () => {
    const { json, runChecked, store, folder, read } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': read('prompts/support/greeting.md').replace('Two.', 'Four.') });
    commitAll(folder, 'Edit');
    store.setTime('2026-03-04T05:06:00Z');
    expect((await runChecked(['sync', '--yes', '--any-commit'])).exitCode).toBe(0);
    const { report } = await json('history', 'support/greeting');
    expect(report.prompts[0]?.history?.versions).toMatchObject([
      { version_number: 4, created_at: expect.stringMatching(/^2026-03-04T05:06:.*Z$/), created_by: 'API' },
      { version_number: 3, created_at: expect.stringMatching(/^2025-06-01T00:02:.*Z$/), created_by: 'cmf8a2b7d0001qz' },
      { version_number: 2, created_at: expect.stringMatching(/^2025-06-01T00:01:.*Z$/), created_by: 'cmf8a2b7d0001qz' },
      { version_number: 1, created_at: expect.stringMatching(/^2025-06-01T00:00:.*Z$/), created_by: 'cmf8a2b7d0001qz' },
    ]);
    const { stdout } = await runChecked(['history', 'support/greeting']);
    expect(stdout).toMatch(/^v4 +2026-03-04 05:06 +[0-9a-f]{12} +Ada +Edit$/m);
    expect(stdout).toMatch(/^v3 +2025-06-01 00:02 +user cmf8…$/m);
    expect(stdout).toMatch(/^v1 +2025-06-01 00:00 +user cmf8… +First$/m);
    const { report: lineage } = await json('history', 'support/greeting', '--environment', 'production');
    expect(lineage.prompts[0]?.lineage?.serves).toMatchObject({ version_number: 1, created_by: 'cmf8a2b7d0001qz' });
  });

  test('Of two Langfuse versions with the same text, history assigns the period of a pin to latest to the one that a sync created', async () => {
    const langfuse = await startLangfuse();
    const { store } = langfuse;
    // The first version is older than the 20 newest ones, which promptsync searches before it creates a version.
    for (const text of ['Same.', ...Array.from({ length: 20 }, (_, n) => `Draft ${n}.`)])
      store.addVersion('a', { text });
    const folder = makeFolder();
    initRepository(folder);
    const syncText = async (day: number, text: string): Promise<void> => {
      const file = `---\nid: a\npins: { staging: latest }\n---\n\n${text}\n`;
      writeFiles(folder, { 'promptsync.yaml': LANGFUSE, 'prompts/a.md': file });
      commitAllAt(folder, `2026-01-0${day}T00:00:00Z`);
      store.setTime(`2026-01-0${day}T06:00:00Z`);
      expect((await run(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    };
    await syncText(1, 'Same.');
    await syncText(2, 'Next.');
    const { report } = await runJson(folder, ['history'], langfuse);
    const pinned = report.prompts[0]?.history?.versions.filter((version) => version.pinned.length > 0);
    expect(pinned?.map(({ version_number }) => version_number)).toEqual([23, 22]);
  });

  test.each(['text', 'markdown', 'html'])(
    'In %s format, history shows only the first line of each commit message',
    async (format) => {
      const { runChecked } = await makeImported();
      const { stdout } = await runChecked(['history', 'support/greeting', '--format', format]);
      expect(stdout).toMatch(/v2[^v]*Shorter/);
      expect(stdout).toMatch(/v1\W[^v]*First(?!.*With a body)/);
      expect(stdout).not.toMatch(/keeps no metadata|outside/);
    },
  );
});

describe('status --orphans', () => {
  const [A, IDLE] = [
    { name: 'team/a', labels: ['canary', 'production'], last_version: 1 },
    { name: 'team/idle', labels: [], last_version: 1 },
  ];

  test.each<[sentence: string, words: readonly string[], orphans: unknown]>([
    ['Without --orphans, status does not list Langfuse prompts that have no file', [], undefined],
    ['status --orphans lists the Langfuse prompts that have no file', ['--orphans'], [A, IDLE]],
    [
      'status --orphans does not list a prompt that has a file, even if that file is not selected',
      ['support/greeting', '--orphans'],
      [A, IDLE],
    ],
    ['status --orphans lists only prompts whose names match its pattern', ['--orphans', 'team/i*'], [IDLE]],
    ['status --orphans lists nothing if every matching prompt has a file', ['--orphans=support/*'], []],
  ])('%s', async (_, words, orphans) => {
    const { json, langfuse } = await makeImported();
    const { report, exitCode } = await json('status', ...words);
    expect([exitCode, report.orphans]).toEqual([0, orphans]);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test('status --orphans does not list a prompt whose file has errors', async () => {
    const { json, folder } = await makeImported();
    writeFiles(folder, { 'prompts/support/refund.md': '---\nid: support/refund\n---\n\n<<<<<<< HEAD\n' });
    const { report } = await json('status', 'support/greeting', '--orphans');
    expect([codes(report.problems), report.orphans]).toEqual([['prompt/others-invalid'], [A, IDLE]]);
  });

  test('status --orphans fails if its pattern matches no prompt', async () => {
    const { json } = await makeImported();
    const { report, exitCode } = await json('status', '--orphans', 'taem/*');
    expect([exitCode, codes(report.problems), report.orphans]).toEqual([1, ['usage/nothing-selected'], undefined]);
  });

  test.each(['text', 'markdown', 'html'])(
    'In %s format, status --orphans lists prompts without a file or states that there are none',
    async (format) => {
      const { runChecked } = await makeImported();
      const shown = async (pattern: string) =>
        (await runChecked(['status', `--orphans=${pattern}`, '--format', format])).stdout.replaceAll('`', '');
      const some = await shown('**');
      expect(some).toContain('team/a: newest version v1, active in canary, production');
      expect(some).toContain('team/idle: newest version v1, not active anywhere');
      expect(await shown('support/*')).toContain('none: every matching prompt has a file');
    },
  );
});

describe('plan with a kept config', () => {
  const PHRASE = 'keeps the metadata of v2';
  const FILE = '---\nid: support/greeting\npins:\n  staging: latest\n---\n\nFour.\n';

  test('plan reports an inherited config only if the file has no metadata', async () => {
    const { json, folder, read } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': read('prompts/support/greeting.md').replace('Two.', 'Four.') });
    expect((await json('plan')).report.prompts[0]?.changes[0]).not.toHaveProperty('metadata_from');
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    expect((await json('plan')).report.prompts[0]?.changes[0]).toMatchObject({ metadata_from: { version_number: 2 } });
  });

  test.each(['text', 'markdown', 'html'])(
    'In %s format, plan shows the config that a new version inherits',
    async (format) => {
      const { runChecked, folder } = await makeImported();
      writeFiles(folder, { 'prompts/support/greeting.md': FILE });
      const plan = await runChecked(['plan', '--format', format]);
      expect(plan.stdout.replaceAll('`', '')).toContain(PHRASE);
      const shown = plan.stdout.replaceAll('&#34;', '"');
      expect(shown).toContain('limits: {"tokens":300}\n');
      expect(shown).toContain('model: "gpt-5"\n');
      // `show` renders the same from the JSON report alone.
      writeFiles(folder, { 'report.json': (await runChecked(['plan', '--format', 'json'])).stdout });
      expect((await runChecked(['show', 'report.json', '--format', format])).stdout).toBe(plan.stdout);
    },
  );

  test('plan shows an inherited config as JSON if it is not a mapping', async () => {
    const { json, folder } = await makeImported();
    const path = 'prompts/support/two-words.md';
    writeFiles(folder, { [path]: '---\nid: support/two words\npins:\n  staging: latest\n---\n\nNew.\n' });
    const { report } = await json('plan', 'support/two words');
    expect(report.prompts[0]?.changes).toMatchObject([{ kept_metadata: '[1,2]' }, { after_metadata: '[1,2]' }]);
  });

  test('plan omits an inherited config larger than 1 MB from the report', async () => {
    const { runChecked, json, folder, store } = await makeImported();
    store.addVersion('support/greeting', { text: 'X', config: { a: 'x'.repeat(1_000_001) }, labels: ['staging'] });
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const { report } = await json('plan');
    expect(report.prompts[0]?.changes).toMatchObject([{ metadata_omitted: true }, { text_omitted: true }]);
    expect(JSON.stringify(report).length).toBeLessThan(10_000);
    for (const format of ['text', 'markdown', 'html']) {
      expect((await runChecked(['plan', '--format', format])).stdout).toContain('because it is larger than 1 MB');
    }
  });

  test('plan escapes a line feed in a config key', async () => {
    const { json, folder, store } = await makeImported();
    const config = { 'model: "gpt-5"\nx': 1 };
    store.addVersion('support/greeting', { text: 'X', config, labels: ['staging'] });
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const { report } = await json('plan');
    expect(report.prompts[0]?.changes[0]).toMatchObject({ kept_metadata: '"model: \\"gpt-5\\"\\nx": 1' });
  });

  test('plan shows the config change in the diff of every label', async () => {
    const { json, folder } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': FILE.replace('latest', 'latest\n  canary: latest') });
    writeFiles(folder, { 'promptsync.yaml': 'service: { provider: langfuse }\n' });
    const { report } = await json('plan');
    const metadata = 'limits: {"tokens":300}\nmodel: "gpt-5"';
    const shown = report.prompts[0]?.changes.filter(({ kind }) => kind === 'set-active');
    expect(shown).toMatchObject([{ after_metadata: metadata }, { after_metadata: metadata }]);
  });

  test('sync announces an inherited config before asking for confirmation', async () => {
    const { runChecked, folder, langfuse } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const { stderr } = await runChecked(['sync', '--allow-dirty', '--any-commit'], { terminal: true, input: 'n\n' });
    expect(stderr).toContain(PHRASE);
    expect(langfuse.takeWrites()).toEqual([]);
  });
});

describe('sync with a kept config', () => {
  const FILE = '---\nid: a\npins:\n  staging: latest\n---\n\nTwo.\n';

  /** Syncs an edit of a prompt whose version 1 serves staging. `create` answers the requests that create versions. */
  async function syncThrough(create: (request: FrontRequest, langfuse: LangfuseDouble) => Promise<FrontAnswer>) {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('a', { text: 'One.', config: { model: 'gpt-5' }, labels: ['staging'] });
    const front = await startFront({
      target: langfuse.baseUrl,
      answer: (request) => (request.method === 'POST' ? create(request, langfuse) : null),
    });
    const folder = makeRepository({ 'promptsync.yaml': LANGFUSE, 'prompts/a.md': FILE });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--any-commit'], { environment });
    return { langfuse, exitCode, codes: codes(report.prompts[0]?.problems ?? []) };
  }

  test.each([[{ model: 'evil' }], [{}]])(
    'After a lost create response, sync does not adopt a version whose config is %j instead of the inherited config',
    async (config) => {
      const synced = await syncThrough(async (request, { baseUrl }) => {
        // The same text and commit message, as the run of another clone sends them.
        await handOn({ ...request, body: { ...Object(request.body), config, labels: [] } }, baseUrl);
        throw new Error('The connection ends.');
      });
      expect([synced.exitCode, synced.codes]).toEqual([4, ['apply/outcome-unknown']]);
      expect(synced.langfuse.store.serves('a', 'staging')).toMatchObject({ version: 1 });
    },
  );

  test('After a lost create response, sync adopts a version with exactly the inherited config', async () => {
    const synced = await syncThrough(async (request, { baseUrl }) => {
      await handOn(request, baseUrl);
      throw new Error('The connection ends.');
    });
    expect([synced.exitCode, synced.codes]).toEqual([0, []]);
    expect(synced.langfuse.store.serves('a', 'staging')).toMatchObject({ version: 2, config: { model: 'gpt-5' } });
  });

  test('sync fails if the service stores a different config than the one sent', async () => {
    const synced = await syncThrough((request, { baseUrl }) =>
      handOn({ ...request, body: { ...Object(request.body), config: {} } }, baseUrl),
    );
    expect([synced.exitCode, synced.codes]).toEqual([4, ['apply/rewritten']]);
  });
});

test('sync moves a label to the planned version, not to a later version with the same text', async () => {
  const langfuse = await startLangfuse();
  const folder = makeRepository({ 'promptsync.yaml': 'service: { provider: langfuse }\n' });
  const commit = (front: string) => {
    writeFiles(folder, { 'prompts/a.md': `---\nid: a\n${front}---\n\nSame.\n` });
    commitAll(folder, 'Change the prompt');
    return git(folder, 'rev-parse', 'HEAD');
  };
  const [bare, first] = [commit(''), commit('metadata: { model: first }\n')];
  commit(`metadata: { model: second }\npins:\n  one: git:${bare}\n  two: git:${first}\n  three: latest\n`);
  expect((await run(folder, ['sync', '--yes', '--any-commit'], langfuse)).exitCode).toBe(0);
  const models = ['one', 'two', 'three'].map((label) => langfuse.store.serves('a', label)?.config);
  expect(models).toEqual([{ model: 'first' }, { model: 'first' }, { model: 'second' }]);
});

test('A new version inherits the config from the first environment in promotion order, even if its file lists another one first', async () => {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion('a', { text: 'One.', config: { model: 'live' }, labels: ['production'] });
  langfuse.store.addVersion('a', { text: 'Two.', config: { model: 'tried' }, labels: ['staging'] });
  const folder = makeRepository({
    'promptsync.yaml': 'service: { provider: langfuse }\nenvironments: { staging: {}, production: {} }\n',
    'prompts/a.md': '---\nid: a\npins:\n  production: 1\n  staging: latest\n---\n\nThree.\n',
  });
  const { report } = await runJson(folder, ['plan'], langfuse);
  expect(report.prompts[0]?.changes[0]).toMatchObject({ metadata_from: { version_number: 2 } });
  const words = ['sync', '--yes', '--any-commit', '--expect-plan', report.plan_digest ?? ''];
  expect((await run(folder, words, langfuse)).exitCode).toBe(0);
  expect(langfuse.store.serves('a', 'staging')?.config).toEqual({ model: 'tried' });
});

describe('sync --expect-plan', () => {
  /** Plans an edit whose new version keeps the config of v1, which has these labels. `sync` expects that plan. */
  async function planEdit(labels: readonly string[]) {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('a', { text: 'One.', config: { model: 'gpt-5' }, labels });
    const folder = makeRepository({
      'promptsync.yaml': LANGFUSE,
      'prompts/a.md': '---\nid: a\npins:\n  staging: latest\n---\n\nTwo.\n',
    });
    const { report } = await runJson(folder, ['plan'], langfuse);
    const sync = () =>
      runJson(folder, ['sync', '--yes', '--any-commit', '--expect-plan', report.plan_digest ?? ''], langfuse);
    return { langfuse, sync };
  }

  test('sync --expect-plan blocks a prompt that would inherit its config from a version added after the plan', async () => {
    const { langfuse, sync } = await planEdit([]);
    langfuse.store.addVersion('a', { text: 'Anything.', config: { model: 'evil' } });
    const { exitCode, report } = await sync();
    expect([exitCode, codes(report.prompts[0]?.problems ?? [])]).toEqual([3, ['guard/stale-plan']]);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test('sync --expect-plan blocks a prompt if somebody adds a version with the planned text but a different config', async () => {
    const { langfuse, sync } = await planEdit(['staging']);
    langfuse.store.addVersion('a', { text: 'Two.', config: {} });
    const { exitCode, report } = await sync();
    expect([exitCode, codes(report.prompts[0]?.problems ?? [])]).toEqual([3, ['guard/stale-plan']]);
    expect(langfuse.takeWrites()).toEqual([]);
  });
});
