import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SECRET_KEY, startLangfuse, type LangfuseDouble } from '../doubles/langfuse-server.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { handOn, startFront, type FrontAnswer, type FrontRequest } from '../support/front.ts';
import { CONFIG } from '../support/prompts.ts';
import { parseReport, run, runJson, type RunOptions } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const LANGFUSE = `service: { provider: langfuse }
environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

/** Three prompts of one folder, one of another, and one that no environment serves; nothing in git. */
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
  const told = async (words: readonly string[], options: RunOptions = {}) => {
    const ran = await run(folder, words, { ...langfuse, ...options });
    expect(ran.stdout + ran.stderr).not.toContain(SECRET_KEY);
    return ran;
  };
  const json = async (...words: readonly string[]) => {
    const { stdout, exitCode } = await told([...words, '--format', 'json']);
    return { exitCode, report: parseReport(stdout) };
  };
  return { folder, langfuse, store, told, json, read: (path: string) => readFileSync(join(folder, path), 'utf8') };
}

/** The same with the files of the three. */
async function makeImported() {
  const stage = await makeStage();
  await stage.told(['import', 'support/*']);
  commitAll(stage.folder, 'Import');
  stage.langfuse.requests.length = 0;
  return stage;
}

const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);

describe('An import by pattern', () => {
  test('lists once and reads each label once; the files say what is there, and a sync then does nothing', async () => {
    const { langfuse, read, told, folder } = await makeStage();
    expect((await told(['import', 'support/*'])).exitCode).toBe(0);
    const listings = langfuse.requests.filter(({ path }) => path.includes('page='));
    expect([listings.length, langfuse.requests.length]).toEqual([1, 1 + 3 * 2]);
    const greeting =
      'pins:\n  staging: latest\n  production: 1\nmetadata:\n  model: gpt-5\n  limits:\n    tokens: 300\n';
    expect(read('prompts/support/greeting.md')).toBe(`---\nid: support/greeting\n${greeting}---\n\nTwo.\n`);
    expect(read('prompts/support/refund.md')).toContain(
      'id: support/refund\npins:\n  staging: latest\n  production: 1\n---',
    );
    // A config that is no mapping is nothing that a file can hold; the version keeps it.
    expect(read('prompts/support/two-words.md')).toBe(
      '---\nid: support/two words\npins:\n  staging: latest\n---\n\nList.\n',
    );
    commitAll(folder, 'Import');
    expect((await told(['plan', '--exit-code'])).exitCode).toBe(0);
    expect((await told(['sync', '--yes', '--any-commit'])).exitCode).toBe(0);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test.each<[sentence: string, names: readonly string[], exitCode: number, paths: readonly string[], codes: object]>([
    ['takes names beside it', ['*/a', 'support/refund'], 0, ['support/refund', 'team/a'], []],
    ['takes a name that two mean once', ['team/[a]', 'team/{a,b}', 'team/a'], 0, ['team/a'], []],
    ['does not bring what nobody serves', ['team/*'], 3, ['team/a'], ['import/nothing-active']],
    ['that matches nothing writes nothing', ['suport/gre?ting', 'team/a'], 1, [], ['usage/nothing-selected']],
    ['is not needed to be told of a name that is not there', ['team/aa'], 1, [], ['usage/nothing-selected']],
    ['fails for a chat prompt alone', ['**'], 4, ['team/a'], ['langfuse/not-text', 'import/nothing-active']],
  ])('%s', async (_, names, exitCode, paths, expected) => {
    const { store, json, folder } = await makeStage();
    store.addChatPrompt('chat', ['staging']);
    const ran = await json('import', ...names);
    expect(ran.exitCode).toBe(exitCode);
    const { prompts, problems } = ran.report;
    expect(codes([...problems, ...prompts.flatMap((prompt) => prompt.problems)])).toEqual(expected);
    for (const path of paths) expect(existsSync(join(folder, `prompts/${path}.md`))).toBe(true);
    for (const { hint } of problems) expect(hint).toMatch(/Did you mean (support\/greeting|team\/a)\?/);
  });

  test('passes over what has a file, which a name does not', async () => {
    const { json } = await makeImported();
    expect(await json('import', 'support/*')).toMatchObject({ exitCode: 0, report: { prompts: [], problems: [] } });
    const named = await json('import', 'support/*', 'support/refund');
    expect(named).toMatchObject({ exitCode: 3, report: { prompts: [{ problems: [{ code: 'import/known' }] }] } });
  });
});

test.each([
  ['import', 'support/*'],
  ['status', '--orphans'],
  ['status', '--orphans', 'a*'],
])('Where prompts cannot be listed, %s %s is refused', async (...words) => {
  const service = await startTestService(['greeting']);
  const text = '---\nid: prm_greeting\nkey: a\nname: A\n---\n\nText.\n';
  const folder = makeRepository({
    'promptsync.yaml': `${CONFIG}environments: { staging: {} }\n`,
    'prompts/a.md': text,
  });
  const { exitCode, stdout } = await run(folder, [...words, '--format', 'json'], service);
  expect([exitCode, codes(parseReport(stdout).problems)]).toEqual([1, ['service/cannot-list']]);
});

describe('A history', () => {
  test('has all versions with their messages and labels, whoever asked for these', async () => {
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

  test.each(['text', 'markdown', 'html'])('as %s shows the first line of a message as subject', async (format) => {
    const { told } = await makeImported();
    const { stdout } = await told(['history', 'support/greeting', '--format', format]);
    expect(stdout).toMatch(/v2[^v]*Shorter/);
    expect(stdout).toMatch(/v1\W[^v]*First(?!.*With a body)/);
    expect(stdout).not.toMatch(/keeps no metadata|outside/);
  });
});

describe('Orphans', () => {
  const [A, IDLE] = [
    { name: 'team/a', labels: ['canary', 'production'], last_version: 1 },
    { name: 'team/idle', labels: [], last_version: 1 },
  ];

  test.each<[sentence: string, words: readonly string[], orphans: unknown]>([
    ['are asked for', [], undefined],
    ['are what no file is of', ['--orphans'], [A, IDLE]],
    ['are compared with all files, whatever is selected', ['support/greeting', '--orphans'], [A, IDLE]],
    ['are those whose names match', ['--orphans', 'team/i*'], [IDLE]],
    ['may be none', ['--orphans=support/*'], []],
  ])('%s', async (_, words, orphans) => {
    const { json, langfuse } = await makeImported();
    const { report, exitCode } = await json('status', ...words);
    expect([exitCode, report.orphans]).toEqual([0, orphans]);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test('of a pattern that no name matches are a problem', async () => {
    const { json } = await makeImported();
    const { report, exitCode } = await json('status', '--orphans', 'taem/*');
    expect([exitCode, codes(report.problems), report.orphans]).toEqual([1, ['usage/nothing-selected'], undefined]);
  });

  test.each(['text', 'markdown', 'html', 'junit'])('are in a report as %s, and so are none', async (format) => {
    const { told } = await makeImported();
    const shown = async (pattern: string) =>
      (await told(['status', `--orphans=${pattern}`, '--format', format])).stdout.replaceAll('`', '');
    const some = await shown('**');
    expect(some).toContain('team/a: last version v1, active in canary, production');
    expect(some).toContain('team/idle: last version v1, active in no environment');
    expect(await shown('support/*')).toContain('none: every prompt that was asked about has a file');
  });
});

describe('A version that keeps the config of another one', () => {
  const PHRASE = 'keeps the metadata of v2';
  const FILE = '---\nid: support/greeting\npins:\n  staging: latest\n---\n\nFour.\n';

  test('says so in the report, and not where the file has metadata', async () => {
    const { json, folder, read } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': read('prompts/support/greeting.md').replace('Two.', 'Four.') });
    expect((await json('plan')).report.prompts[0]?.changes[0]).not.toHaveProperty('metadata_from');
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    expect((await json('plan')).report.prompts[0]?.changes[0]).toMatchObject({ metadata_from: { version_number: 2 } });
  });

  test.each(['text', 'markdown', 'html'])('says so as %s, and shows that config', async (format) => {
    const { told, folder } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const plan = await told(['plan', '--format', format]);
    expect(plan.stdout.replaceAll('`', '')).toContain(PHRASE);
    const shown = plan.stdout.replaceAll('&#34;', '"');
    expect(shown).toContain('limits: {"tokens":300}\n');
    expect(shown).toContain('model: "gpt-5"\n');
    // `show` renders the same from the JSON report alone.
    writeFiles(folder, { 'report.json': (await told(['plan', '--format', 'json'])).stdout });
    expect((await told(['show', 'report.json', '--format', format])).stdout).toBe(plan.stdout);
  });

  test('shows a config that is not a mapping as JSON', async () => {
    const { json, folder } = await makeImported();
    const path = 'prompts/support/two-words.md';
    writeFiles(folder, { [path]: '---\nid: support/two words\npins:\n  staging: latest\n---\n\nNew.\n' });
    const { report } = await json('plan', 'support/two words');
    expect(report.prompts[0]?.changes).toMatchObject([{ kept_metadata: '[1,2]' }, { after_metadata: '[1,2]' }]);
  });

  test('leaves a config of more than 100 kB out of the report, and says so', async () => {
    const { told, json, folder, store } = await makeImported();
    store.addVersion('support/greeting', { text: 'X', config: { a: 'x'.repeat(100_001) }, labels: ['staging'] });
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const { report } = await json('plan');
    expect(report.prompts[0]?.changes).toMatchObject([{ metadata_omitted: true }, { text_omitted: true }]);
    expect(JSON.stringify(report).length).toBeLessThan(10_000);
    for (const format of ['text', 'markdown', 'html']) {
      expect((await told(['plan', '--format', format])).stdout).toContain('too large to be shown (over 100 kB)');
    }
  });

  test('shows a key with a line feed in it as one line', async () => {
    const { json, folder, store } = await makeImported();
    const config = { 'model: "gpt-5"\nx': 1 };
    store.addVersion('support/greeting', { text: 'X', config, labels: ['staging'] });
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const { report } = await json('plan');
    expect(report.prompts[0]?.changes[0]).toMatchObject({ kept_metadata: '"model: \\"gpt-5\\"\\nx": 1' });
  });

  test('shows in the diff of each label how the config changes', async () => {
    const { json, folder } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': FILE.replace('latest', 'latest\n  canary: latest') });
    writeFiles(folder, { 'promptsync.yaml': 'service: { provider: langfuse }\n' });
    const { report } = await json('plan');
    const metadata = 'limits: {"tokens":300}\nmodel: "gpt-5"';
    const shown = report.prompts[0]?.changes.filter(({ kind }) => kind === 'set-active');
    expect(shown).toMatchObject([{ after_metadata: metadata }, { after_metadata: metadata }]);
  });

  test('says so before the question', async () => {
    const { told, folder, langfuse } = await makeImported();
    writeFiles(folder, { 'prompts/support/greeting.md': FILE });
    const { stderr } = await told(['sync', '--allow-dirty', '--any-commit'], { terminal: true, input: 'n\n' });
    expect(stderr).toContain(PHRASE);
    expect(langfuse.takeWrites()).toEqual([]);
  });
});

describe('A create whose version is to keep the config of another one', () => {
  const FILE = '---\nid: a\npins:\n  staging: latest\n---\n\nTwo.\n';

  /** Syncs an edit of a prompt whose version 1 serves staging, with something in between that answers creates. */
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
    'does not adopt a version with the config %j if its answer is lost',
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

  test('adopts the version with exactly that config if its answer is lost', async () => {
    const synced = await syncThrough(async (request, { baseUrl }) => {
      await handOn(request, baseUrl);
      throw new Error('The connection ends.');
    });
    expect([synced.exitCode, synced.codes]).toEqual([0, []]);
    expect(synced.langfuse.store.serves('a', 'staging')).toMatchObject({ version: 2, config: { model: 'gpt-5' } });
  });

  test('fails if the service stores another config than was sent', async () => {
    const synced = await syncThrough((request, { baseUrl }) =>
      handOn({ ...request, body: { ...Object(request.body), config: {} } }, baseUrl),
    );
    expect([synced.exitCode, synced.codes]).toEqual([4, ['apply/rewritten']]);
  });
});

test('A label whose pin has no metadata moves to the version that the plan names, not to a later one of the same text', async () => {
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

test('A new version takes over the config of the first environment in promotion order, whatever the order in the file', async () => {
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
  /** The digest of a plan whose new version keeps the config of v1, which has these labels. */
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

  test('blocks a plan that would take over the config of a version added since', async () => {
    const { langfuse, sync } = await planEdit([]);
    langfuse.store.addVersion('a', { text: 'Anything.', config: { model: 'evil' } });
    const { exitCode, report } = await sync();
    expect([exitCode, codes(report.prompts[0]?.problems ?? [])]).toEqual([3, ['guard/stale-plan']]);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test('blocks a plan that would activate a version created since with the planned text and another config', async () => {
    const { langfuse, sync } = await planEdit(['staging']);
    langfuse.store.addVersion('a', { text: 'Two.', config: {} });
    const { exitCode, report } = await sync();
    expect([exitCode, codes(report.prompts[0]?.problems ?? [])]).toEqual([3, ['guard/stale-plan']]);
    expect(langfuse.takeWrites()).toEqual([]);
  });
});
