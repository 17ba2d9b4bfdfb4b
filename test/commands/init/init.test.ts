import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init, type InitOptions } from '../../../src/commands/init/init.ts';
import { makeConfigFile } from '../../../src/commands/init/init-files.ts';
import {
  configure,
  EXAMPLE,
  git,
  initRepository,
  makeFolder,
  makeWorkspace,
  writeFiles,
} from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { promptText } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { changeService, KEY, startTestService } from '../../support/service.ts';
import { makeSystem } from '../../support/system.ts';
import { makeAnswers, makeInterview, type Replies } from './answers.ts';

const URL = ['--url', 'https://prompts.example.com'];
const WORKFLOWS = ['review', 'apply', 'drift', 'propose'].map((name) => `.github/workflows/promptsync-${name}.yml`);
const GITLAB = ['.gitlab/promptsync.gitlab-ci.yml', '.gitlab-ci.yml'] as const;
const PRE_COMMIT = '.pre-commit-config.yaml';

/** The files to which init appends a line about prompt files. */
const EXTENDED = ['.gitattributes', '.prettierignore'];

function makeRoot(): string {
  const folder = makeFolder();
  initRepository(folder);
  return folder;
}

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);

/** Starts a service with one prompt that is active in one environment. */
async function startServed(environment: string) {
  const service = await startTestService(['greeting', 'idle']);
  await changeService(service.baseUrl, 'greeting', environment, 'One.');
  return service;
}

/** Returns the sorted paths of all files except those in `.git`. */
function pathsIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('.git/'))
    .toSorted();
}

describe('init', () => {
  test('init in a subfolder writes workflows and the pre-commit configuration to the repository root and makes them work in the subfolder', async () => {
    const root = makeRoot();
    const folder = join(root, 'team a');
    writeFiles(root, { 'promptsync.yaml': '{}\n', 'team a/.keep': '' });
    await run(folder, ['init', ...URL, '--dir', 'my prompts', '--pre-commit']);
    expect(pathsIn(root)).toEqual(
      [
        ...['.prettierignore', PRE_COMMIT, 'promptsync.yaml', ...WORKFLOWS],
        ...['.gitattributes', '.keep', 'promptsync.yaml'].map((path) => `team a/${path}`),
      ].toSorted(),
    );
    expect(read(folder, '.gitattributes')).toBe('"my prompts/**/*.md" text eol=lf\n');
    expect(read(root, '.prettierignore')).toBe('/team a/my prompts/**/*.md\n');
    git(root, 'add', '.');
    expect(git(root, 'check-attr', 'eol', 'team a/my prompts/example/greeting.md')).toMatch(/eol: lf$/);
    writeFiles(folder, { 'my prompts/greeting.md': promptText('greeting') });
    const [{ hooks }] = parse(read(root, PRE_COMMIT)).repos;
    expect(hooks).toEqual([{ id: 'promptsync-validate', args: ['--config', 'team a/promptsync.yaml'] }]);
    expect(await run(root, ['validate', ...hooks[0].args])).toMatchObject({ exitCode: 0, stdout: '1 prompt valid.\n' });
  });

  test('init chooses GitLab CI jobs only if the host of the remote contains gitlab', async () => {
    for (const [address, expected] of [
      ['https://gitlab.example.com/acme/prompts.git', GITLAB],
      ['git@gitlab.com:acme/prompts.git', GITLAB],
      ['git@github.com:acme/gitlab-prompts.git', WORKFLOWS],
      ['https://gitlab@github.com/acme/prompts.git', WORKFLOWS],
      ['/srv/gitlab/prompts.git', WORKFLOWS],
    ] as const) {
      const folder = makeRoot();
      configure(folder, { 'remote.origin.url': address });
      await run(folder, ['init', ...URL]);
      const ci = pathsIn(folder).filter((path) => /^\.git(hub|lab)/.test(path));
      expect([address, ci]).toEqual([address, expected.toSorted()]);
    }
  });

  test('init --ci gitlab includes its jobs in .gitlab-ci.yml, and explains what to add to an existing one', async () => {
    const folder = makeRoot();
    const words = ['init', '--provider', 'langfuse', ...URL, '--ci', 'gitlab'];
    const { report } = await runJson(folder, words);
    expect(report.problems).toEqual([]);
    expect(parse(read(folder, GITLAB[1]))).toEqual({ include: [{ local: GITLAB[0] }] });
    expect(report.next_steps).toEqual([
      "Next: run promptsync import '**' to write files for the prompts in Langfuse.",
      `In ${GITLAB[0]}, replace the zeros with the id of a promptsync commit that you trust.`,
      'In the CI/CD settings of the GitLab project, add the variables LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY once with each of these environment scopes: "staging", "production". For reviews and drift checks, also add the variables with the scope "*".',
      'Then commit the files and run promptsync plan.',
    ]);
    expect((await runJson(folder, words)).report.problems).toEqual([]);
    writeFiles(folder, { [GITLAB[1]]: 'stages: [test]\n' });
    const { exitCode, stderr } = await run(folder, [...words, '--force']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`Add \`include: [{ local: ${GITLAB[0]} }]\` to the file.`);
    expect(read(folder, GITLAB[1])).toBe('stages: [test]\n');
  });

  test('init refuses to write any file if the workspace path contains a hostile folder name', async () => {
    const root = makeRoot();
    const CONTROL = ['a\nb', 'a\n          api-key: b', 'a\rb', 'a\tb', 'a\u001bb', 'a\u0085b', 'a\u2028b', 'a\u2029b'];
    const EXPRESSIONS = ['a${{ secrets.OTHER }}b', '${{github.token}}', '$CI_JOB_TOKEN', 'a$b'];
    for (const name of [...CONTROL, ...EXPRESSIONS]) {
      const folder = join(root, name, 'below');
      mkdirSync(folder, { recursive: true });
      for (const ci of ['github', 'gitlab', ...(CONTROL.includes(name) ? ['none'] : [])]) {
        const { exitCode, report } = await runJson(folder, ['init', ...URL, '--ci', ci]);
        expect({ name, exitCode, codes: codes(report.problems) }).toEqual({
          ...{ name, exitCode: 1, codes: ['init/folder-name'] },
        });
      }
    }
    expect(pathsIn(root)).toEqual([]);
    expect(await run(join(root, 'a$b'), ['init', ...URL, '--ci', 'none'])).toMatchObject({ exitCode: 0 });
    // Only the path below the root of the repository is in the files.
    const other = join(root, EXPRESSIONS[0]!, 'below');
    initRepository(other);
    expect(await run(other, ['init', ...URL])).toMatchObject({ exitCode: 0 });
    for (const path of WORKFLOWS) expect(read(other, path)).toBe(read(EXAMPLE, path));
  });

  test.each([
    ['team', ['team/node_modules', 'node_modules'], 'node_modules'],
    ['team/app', ['node_modules'], '../../node_modules'],
    ['team', [], 'node_modules'],
  ] as const)('the schema comment of init in %s with packages in %j is %s', (place, installed, expected) => {
    const at = (modules: string) => `${modules}/promptsync/schemas/promptsync.schema.json`;
    const root = makeWorkspace(Object.fromEntries(installed.map((modules) => [at(modules), '{}'])));
    const { content } = makeConfigFile(makeAnswers(), { root, folder: join(root, place) });
    expect(content.split('\n')[0]).toBe(`# yaml-language-server: $schema=${at(expected)}`);
  });
});

describe('init --id', () => {
  const words = (baseUrl: string) => ['init', '--url', baseUrl, '--id', 'prm_greeting', '--ci', 'none'];

  test('init --id imports a prompt from the service of --url, and keeps all files if it runs again', async () => {
    const folder = makeRoot();
    const { baseUrl, environment } = await startServed('production');
    const elsewhere = { ...environment, PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' };
    const { report, exitCode } = await runJson(folder, words(baseUrl), { environment: elsewhere });
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ service: baseUrl });
    expect(read(folder, 'prompts/greeting.md')).toMatch(/pins:\n {2}production: version:\S+ {2}# 1\n---\n\nOne\.\n/);
    const again = await runJson(folder, words(baseUrl), { environment });
    expect(again.report.files?.map(({ status }) => status)).toEqual(['kept', 'kept', 'kept', 'kept']);
    expect(again.report.problems).toEqual([]);
  });

  test('init --id does not import a prompt that already has a file', async () => {
    const folder = makeWorkspace({ 'prompts/mine.md': promptText('greeting', { key: 'mine' }) });
    const { baseUrl, environment } = await startServed('staging');
    const { report } = await runJson(folder, words(baseUrl), { environment });
    expect([codes(report.problems), pathsIn(folder)]).toEqual([['import/known'], ['prompts/mine.md']]);
  });

  test('init writes nothing if it is interrupted before it can import the prompt', async () => {
    const folder = makeRoot();
    const { baseUrl } = await startServed('staging');
    const { exitCode, report } = await runJson(folder, words(baseUrl), {
      environment: { PROMPTSYNC_API_KEY: KEY },
      onSignal: (signal) => signal(),
    });
    expect({ exitCode, files: pathsIn(folder) }).toEqual({ exitCode: 130, files: [] });
    expect(JSON.stringify(report)).toContain('apply/interrupted');
  });
});

describe('init --pre-commit', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/editors.md'), 'utf8');
  const [, example = ''] = /```yaml\n(repos:\n[^`]*)```/.exec(docs) ?? [];

  test('init --pre-commit writes the pre-commit configuration that docs/editors.md shows, and warns about one without the hook', async () => {
    const folder = makeRoot();
    const { report } = await runJson(folder, ['init', ...URL, '--pre-commit']);
    expect(report.problems).toEqual([]);
    expect(read(folder, PRE_COMMIT)).toBe(example);
    expect(report.next_steps?.[1]).toMatch(/promptsync-propose\.yml, \.pre-commit-config\.yaml, replace the zeros/);
    const embedded = makeFolder();
    await run(embedded, ['init', '--embedded', '--pre-commit']);
    expect(read(embedded, PRE_COMMIT)).toBe(example);
    for (const [content, problems] of [
      ['repos: []\n', ['init/pre-commit']],
      [`${example}      - id: other\n`, []],
    ] as const) {
      writeFiles(folder, { [PRE_COMMIT]: content });
      const { report: kept } = await runJson(folder, ['init', ...URL, '--ci', 'none', '--pre-commit', '--force']);
      expect(codes(kept.problems)).toEqual(problems);
      expect(kept.files).toContainEqual({ path: PRE_COMMIT, status: 'kept' });
      expect(kept.next_steps?.join()).not.toContain(PRE_COMMIT);
      expect(read(folder, PRE_COMMIT)).toBe(content);
    }
  });
});

describe('init with existing files', () => {
  const MINE = {
    'promptsync.yaml': 'prompts: ["prompts/**/*.md"]\nenvironments: { dev: {}, live: {} }\n',
    [WORKFLOWS[0]!]: 'mine\n',
    '.gitattributes': '* text=auto\r\n*.png binary',
    '.prettierignore': 'dist/\n/prompts/**/*.md\n',
    '.gitignore': 'node_modules/\n',
  };

  test('init does not overwrite existing files whose content differs, writes jobs for their environments, and replaces them with --force', async () => {
    const folder = makeWorkspace(MINE);
    const { report, exitCode } = await runJson(folder, ['init', ...URL]);
    expect(exitCode).toBe(0);
    expect(report.files?.map(({ path, status }) => `${status} ${path}`)).toEqual([
      ...['kept promptsync.yaml', `kept ${WORKFLOWS[0]}`],
      ...WORKFLOWS.slice(1).map((path) => `created ${path}`),
      ...['extended .gitattributes', 'kept .prettierignore'],
    ]);
    expect(codes(report.problems)).toEqual(['init/kept', 'init/kept']);
    expect(read(folder, 'promptsync.yaml')).toBe(MINE['promptsync.yaml']);
    expect(read(folder, '.gitattributes')).toBe('* text=auto\r\n*.png binary\nprompts/**/*.md text eol=lf\n');
    expect(Object.keys(parse(read(folder, WORKFLOWS[1]!)).jobs)).toEqual(['dev', 'live']);
    expect(report.next_steps?.[1]).toContain(WORKFLOWS.slice(1).join(', '));
    expect(report.next_steps?.[1]).not.toContain(WORKFLOWS[0]);
    expect(report.next_steps?.[2]).toContain('create "dev", "live".');
    const forced = await runJson(folder, ['init', ...URL, '--force']);
    const overwritten = forced.report.files?.filter(({ status }) => status === 'overwritten').map(({ path }) => path);
    expect(overwritten).toEqual(['promptsync.yaml', WORKFLOWS[0], WORKFLOWS[1]]);
    expect(read(folder, 'promptsync.yaml')).toContain('base_url: https://prompts.example.com');
    writeFiles(folder, { 'promptsync.yaml': 'prompts: ["prompts/**/*.md"]\n' });
    rmSync(join(folder, WORKFLOWS[1]!));
    await run(folder, ['init', ...URL, '--environments', 'qa']);
    expect(Object.keys(parse(read(folder, WORKFLOWS[1]!)).jobs)).toEqual(['qa']);
    const names = await runJson(folder, ['init', ...URL, '--environments', 'staging,pre prod']);
    expect(names.report.problems).toMatchObject([{ code: 'init/invalid-flag' }]);
    expect(names.report.files ?? []).toEqual([]);
  });

  const configured = (prompts: string) => ({ 'promptsync.yaml': `prompts: ${prompts}\n` });
  const greeting = { 'prompts/greeting.md': promptText('greeting') };

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      'init --embedded adds its example if the configuration selects it',
      configured('["**/*.md"]'),
      [...EXTENDED, 'prompts/example/greeting.md'],
    ],
    [
      'init --embedded adds no example that the configuration does not select',
      configured('["prompts/*.md"]'),
      EXTENDED,
    ],
    ['init --embedded adds no example if a pattern selects another folder', configured('["texts/**/*.md"]'), []],
    ['init --embedded adds no example if the configuration is invalid', configured('1'), []],
    ['init --embedded adds no example to a workspace with prompts', greeting, [...EXTENDED, 'prompts/greeting.md']],
  ])('%s', async (_, files, written) => {
    const folder = makeWorkspace(files);
    const { report, exitCode } = await runJson(folder, ['init', '--embedded', '--ci', 'none']);
    expect(exitCode).toBe(0);
    expect(pathsIn(folder)).toEqual(['.gitignore', 'promptsync.yaml', ...written].toSorted());
    const kept = 'promptsync.yaml' in files ? ['init/kept'] : [];
    expect(codes(report.problems)).toEqual([...kept, ...(written.length > 2 ? [] : ['init/not-selected'])]);
  });

  test.each<[string, string, (path: string, outside: string) => void]>([
    ['init writes nothing through a link to a folder', 'prompts', (path, outside) => symlinkSync(outside, path)],
    [
      'init writes nothing through a link to a missing file',
      '.gitattributes',
      (path, outside) => symlinkSync(join(outside, 'x'), path),
    ],
    ['init writes nothing if a folder is in the place of a file', 'promptsync.yaml', (path) => mkdirSync(path)],
  ])('%s', async (_, path, prepare) => {
    const [folder, outside] = [makeRoot(), makeFolder()];
    prepare(join(folder, path), outside);
    const before = pathsIn(folder);
    const { report, exitCode } = await runJson(folder, ['init', '--embedded', '--force']);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: ['init/in-the-way'] });
    expect(report.problems[0]?.message).toMatch(new RegExp(`^promptsync could not write \`${path}\` because it is `));
    expect([pathsIn(folder), pathsIn(outside)]).toEqual([before, []]);
  });

  test('init reports which files it wrote and which it could not write', async () => {
    const folder = makeWorkspace({ '.github': 'no folder' });
    const { report, exitCode, stdout } = await runJson(folder, ['init', ...URL]);
    expect(exitCode).toBe(1);
    expect(codes(report.problems)).toEqual(WORKFLOWS.map(() => 'edit/unwritable'));
    expect(report.files?.map(({ path }) => path)).toEqual(['promptsync.yaml', ...EXTENDED]);
    expect(stdout).not.toContain('nothing was written');
  });
});

describe('init with questions', () => {
  const FLAGS: InitOptions = { embedded: false, force: false };

  /** Runs init with these answers in a folder with these files. */
  async function interviewWith(replies: Replies, flags: Partial<InitOptions>, variables = {}, files = {}) {
    const folder = makeWorkspace(files);
    const { asked, interview } = makeInterview({ 'Which service': 'integration', 'Which CI': 'none', ...replies });
    const system = { ...makeSystem(folder, { PROMPTSYNC_API_KEY: KEY, ...variables }), interview };
    const ran = init({ ...FLAGS, ...flags }, system);
    const listQuestions = (words: string) => asked.filter((message) => message.includes(words));
    return { folder, listQuestions, ran, asked };
  }

  test('init asks for the address again until a service responds, and sends the key only to the correct address', async () => {
    const service = await startServed('staging');
    const redirecting = await startFront({ answer: () => ({ status: 302, body: '' }) });
    const front = await startFront({ target: service.baseUrl });
    const addresses = ['http://127.0.0.1:1', redirecting.baseUrl, `${front.baseUrl}/wrong`, service.baseUrl];
    const { folder, listQuestions, ran } = await interviewWith({ 'What is the address': addresses }, {});
    expect((await ran).exitCode).toBe(0);
    expect(listQuestions('What is the address')).toEqual([
      expect.stringMatching(/^What is the address/),
      expect.stringMatching(/^promptsync could not reach the service .*\nWhat is the address/),
      expect.stringMatching(/^The service returned a redirect \(302\).*\nWhat is the address/),
      expect.stringMatching(/^promptsync sent .* 404 \(not found\).*\nWhat is the address/),
    ]);
    expect(read(folder, 'promptsync.yaml')).toContain(service.baseUrl);
    expect([redirecting, front].flatMap(({ requests }) => requests.map(({ key }) => key))).not.toContain(KEY);
    expect(redirecting.requests).toHaveLength(1);
  });

  test('init asks again for a key variable that is not set or that the service rejects, and for a prompt that it cannot import', async () => {
    const { baseUrl } = await startServed('staging');
    const { folder, listQuestions, ran, asked } = await interviewWith(
      {
        'Which environment variable': ['UNSET_KEY', 'WRONG_KEY', 'PROMPTSYNC_API_KEY'],
        'Which prompt': ['prm_gone', 'prm_greeting'],
      },
      { url: baseUrl },
      { WRONG_KEY: 'sk-wrong' },
    );
    expect((await ran).exitCode).toBe(0);
    expect(listQuestions('Which environment variable')).toEqual([
      expect.stringMatching(/^Which environment variable/),
      expect.stringMatching(/^The variable `UNSET_KEY` must contain the API key/),
      expect.stringMatching(/40[13]|rejected|refused/),
    ]);
    expect(listQuestions('Which prompt')).toEqual([
      expect.stringMatching(/^Which prompt/),
      expect.stringMatching(/^The service has no prompt with the id "prm_gone" \(404\)\.\nWhich prompt/),
    ]);
    expect(read(folder, 'promptsync.yaml')).toContain('api_key_env: PROMPTSYNC_API_KEY\n');
    expect(read(folder, 'prompts/greeting.md')).toContain('One.');
    expect(asked.join('')).not.toContain('sk-wrong');
  });

  test('init asks for confirmation for each existing file before it overwrites that file, and writes nothing if the user cancels', async () => {
    const files = { 'promptsync.yaml': '{}\n', [WORKFLOWS[3]!]: 'mine\n' };
    const flags = { url: 'http://127.0.0.1:1', apiKeyEnv: 'K', ci: 'github', id: undefined };
    const yes = { 'promptsync.yaml already exists': true };
    const cancelled = await interviewWith({ ...yes, 'promptsync-propose.yml already exists': null }, flags, {}, files);
    await expect(cancelled.ran).rejects.toThrow('promptsync made no changes');
    expect(read(cancelled.folder, 'promptsync.yaml')).toBe('{}\n');
    expect(existsSync(join(cancelled.folder, '.gitattributes'))).toBe(false);
    const confirmed = await interviewWith(yes, flags, {}, files);
    const { run: ran } = await confirmed.ran;
    expect(confirmed.listQuestions('Overwrite')).toHaveLength(2);
    expect(ran.written).toContainEqual({ path: 'promptsync.yaml', status: 'overwritten' });
    expect(ran.written).toContainEqual({ path: WORKFLOWS[3], status: 'kept' });
  });
});
