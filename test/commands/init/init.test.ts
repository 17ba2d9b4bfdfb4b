import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init, type InitOptions } from '../../../src/commands/init/init.ts';
import type { Interview } from '../../../src/domain/system.ts';
import { makeProblem, ProblemError } from '../../../src/problem.ts';
import { EXAMPLE, git, initRepository, makeFolder, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { startFront } from '../../support/front.ts';
import { promptText } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { KEY, startTestService } from '../../support/service.ts';
import { makeSystem } from '../../support/system.ts';

const URL = ['--url', 'https://prompts.example.com'];
const WORKFLOWS = ['review', 'apply', 'drift', 'propose'].map((name) => `.github/workflows/promptsync-${name}.yml`);

function makeRoot(): string {
  const folder = makeFolder();
  initRepository(folder);
  return folder;
}

const GITLAB = ['.gitlab/promptsync.gitlab-ci.yml', '.gitlab-ci.yml'] as const;

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);

/** Starts a service with one prompt that is active in one environment. */
async function startServed(environment: string) {
  const service = await startTestService(['greeting']);
  const version = service.store.createVersion('prm_greeting', { content: 'One.' });
  service.store.setActive('prm_greeting', { environment, versionId: version!.id });
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

/** The files to which init appends a line about prompt files. */
const EXTENDED = ['.gitattributes', '.prettierignore'];

describe('init', () => {
  test('init --url creates a valid configuration and CI workflows, but no example prompt', async () => {
    const folder = makeRoot();
    const { exitCode, report } = await runJson(folder, ['init', ...URL]);
    expect(exitCode).toBe(0);
    const paths = ['promptsync.yaml', ...WORKFLOWS, ...EXTENDED];
    expect(report).toMatchObject({ mode: 'init', service: null, prompts: [], problems: [] });
    expect(report.files).toEqual(paths.map((path) => ({ path, status: 'created' })));
    expect(pathsIn(folder)).toEqual(paths.toSorted());
    expect(read(folder, '.gitattributes')).toBe('prompts/**/*.md text eol=lf\n');
    expect(read(folder, '.prettierignore')).toBe('/prompts/**/*.md\n');
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting') });
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0, stdout: '1 prompt valid.\n' });
    for (const path of WORKFLOWS) expect(read(folder, path)).toBe(read(EXAMPLE, path));
  });

  test.each([
    [
      'init adds a schema comment that points to the promptsync package in the workspace',
      ...(['team', ['team/node_modules', 'node_modules'], 'node_modules'] as const),
    ],
    [
      'init adds a schema comment that points to the promptsync package at the repository root',
      ...(['team/app', ['node_modules'], '../../node_modules'] as const),
    ],
    [
      'init adds a schema comment that points to node_modules in the workspace even if promptsync is not installed',
      'team',
      [],
      'node_modules',
    ],
  ] as const)('%s', async (_, place, installed, expected) => {
    const root = makeRoot();
    const at = (modules: string) => `${modules}/promptsync/schemas/promptsync.schema.json`;
    writeFiles(root, Object.fromEntries(installed.map((modules) => [at(modules), '{}'])));
    const folder = join(root, place);
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting') });
    await run(folder, ['init', ...URL]);
    expect(read(folder, 'promptsync.yaml').split('\n')[0]).toBe(`# yaml-language-server: $schema=${at(expected)}`);
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0 });
  });

  test('init writes its flag values to the configuration and sets promote_from of each environment to the previous one', async () => {
    const folder = makeRoot();
    const flags = ['--api-key-env', 'MY_KEY', '--dir', './texts/', '--environments', 'dev, qa,10', '--ci', 'none'];
    await run(folder, ['init', ...URL, ...flags]);
    expect(read(folder, 'promptsync.yaml').replaceAll(/^#.*\n/gm, '')).toBe(`service:
  base_url: https://prompts.example.com
  api_key_env: MY_KEY

prompts:
  - texts/**/*.md

environments:
  dev: {}
  qa:
    promote_from: dev
    allow_latest: false
  "10":
    promote_from: qa
    allow_latest: false
`);
    writeFiles(folder, { 'texts/greeting.md': promptText('greeting', { pins: { dev: 'latest' } }) });
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0 });
  });

  test('init --embedded pins its example prompt to latest in the first environment', async () => {
    const folder = makeRoot();
    await run(folder, ['init', '--embedded', '--dir', 'texts', '--environments', 'dev,qa']);
    expect(read(folder, 'texts/example/greeting.md')).toContain('pins:\n  dev: latest\n---\n');
  });

  test('init --embedded creates a workspace that has no CI files and can be synced immediately', async () => {
    const folder = makeRoot();
    writeFiles(folder, { '.gitignore': 'node_modules/\n' });
    expect(await run(folder, ['init', '--embedded'])).toMatchObject({ exitCode: 0 });
    const written = ['promptsync.yaml', 'prompts/example/greeting.md', '.gitignore', ...EXTENDED];
    expect(pathsIn(folder)).toEqual(written.toSorted());
    expect(read(folder, '.gitignore')).toBe('node_modules/\n.promptsync/\n');
    expect(await run(folder, ['sync', '--yes', '--allow-dirty'])).toMatchObject({ exitCode: 0 });
    expect(git(folder, 'status', '--porcelain', '--untracked-files=all')).not.toContain('.promptsync/');
    expect(await run(folder, ['plan', '--exit-code'])).toMatchObject({ exitCode: 0 });
  });

  test('init in a subfolder writes workflows to the repository root and makes them run in the subfolder', async () => {
    const root = makeRoot();
    const folder = join(root, 'team a');
    mkdirSync(folder);
    await run(folder, ['init', ...URL, '--api-key-env', 'TEAM_KEY', '--dir', 'my prompts']);
    expect(pathsIn(root)).toEqual(
      [
        ...['.prettierignore', ...WORKFLOWS],
        ...['.gitattributes', 'promptsync.yaml'].map((path) => `team a/${path}`),
      ].toSorted(),
    );
    expect(read(folder, '.gitattributes')).toBe('"my prompts/**/*.md" text eol=lf\n');
    expect(read(root, '.prettierignore')).toBe('/team a/my prompts/**/*.md\n');
    for (const path of WORKFLOWS) {
      expect(read(root, path)).toContain(
        '          api-key: ${{ secrets.TEAM_KEY }}\n          working-directory: team a\n',
      );
    }
    git(root, 'add', '.');
    const attributes = git(root, 'check-attr', 'eol', 'team a/my prompts/example/greeting.md');
    expect(attributes).toMatch(/eol: lf$/);
  });

  test.each([
    [
      'init writes GitLab CI jobs if the remote has an HTTPS URL on a GitLab host',
      'https://gitlab.example.com/acme/prompts.git',
      'gitlab',
    ],
    [
      'init writes GitLab CI jobs if the remote has an SSH URL on gitlab.com',
      'git@gitlab.com:acme/prompts.git',
      'gitlab',
    ],
    [
      'init writes GitHub workflows if the remote has an SSH URL on github.com',
      'git@github.com:acme/gitlab-prompts.git',
      'github',
    ],
    [
      'init writes GitHub workflows if gitlab occurs only as the user name in the remote URL',
      'https://gitlab@github.com/acme/prompts.git',
      'github',
    ],
    ['init writes GitHub workflows if the remote is a local path', '/srv/gitlab/prompts.git', 'github'],
  ])('%s', async (_, address, expected) => {
    const folder = makeRoot();
    git(folder, 'remote', 'add', 'origin', address);
    await run(folder, ['init', ...URL]);
    const ci = { github: WORKFLOWS, gitlab: GITLAB }[expected]!;
    expect(pathsIn(folder).filter((path) => /^\.git(hub|lab)/.test(path))).toEqual(ci.toSorted());
  });

  test('init --ci gitlab writes CI jobs with the API key variable and workspace path, and includes them in .gitlab-ci.yml', async () => {
    const root = makeRoot();
    const folder = join(root, 'team a');
    mkdirSync(folder);
    const words = ['init', ...URL, '--api-key-env', 'TEAM_KEY', '--ci', 'gitlab'];
    expect((await runJson(folder, words)).report.problems).toEqual([]);
    const jobs = read(root, GITLAB[0]);
    expect(jobs).toContain('    PROMPTSYNC_CONFIG: team a/promptsync.yaml\n');
    expect(jobs).toContain('$([ -n "$TEAM_KEY" ] || echo --offline)');
    expect(jobs).not.toContain('PROMPTSYNC_API_KEY');
    expect(parse(read(root, GITLAB[1]))).toEqual({ include: [{ local: GITLAB[0] }] });
    expect((await runJson(folder, words)).report.problems).toEqual([]);
  });

  test.each([
    ...['a\nb', 'a\n          api-key: b', 'a\rb', 'a\tb', 'a\u001bb', 'a\u0085b', 'a\u2028b', 'a\u2029b'],
    ...['a${{ secrets.OTHER }}b', '${{github.token}}', '$CI_JOB_TOKEN', 'a$b'],
  ])('init refuses to write any file if the workspace path contains the hostile folder name %j', async (name) => {
    for (const ci of ['github', 'gitlab']) {
      const root = makeRoot();
      const folder = join(root, name, 'below');
      mkdirSync(folder, { recursive: true });
      const { exitCode, report } = await runJson(folder, ['init', ...URL, '--ci', ci]);
      expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: ['init/folder-name'] });
      expect(pathsIn(root)).toEqual([]);
    }
  });

  test('init --ci none rejects a line feed in the folder name but accepts a dollar sign', async () => {
    const root = makeRoot();
    for (const name of ['a\nb', '$a']) mkdirSync(join(root, name));
    const words = ['init', ...URL, '--ci', 'none'];
    expect((await runJson(join(root, 'a\nb'), words)).report.problems).toMatchObject([{ code: 'init/folder-name' }]);
    expect(await run(join(root, '$a'), words)).toMatchObject({ exitCode: 0 });
  });

  test('init accepts a line feed and a workflow expression in the name of the repository root folder', async () => {
    const root = join(makeFolder(), 'a\n${{ secrets.OTHER }}');
    mkdirSync(root);
    initRepository(root);
    expect(await run(root, ['init', ...URL])).toMatchObject({ exitCode: 0 });
    for (const path of WORKFLOWS) expect(read(root, path)).toBe(read(EXAMPLE, path));
  });

  test.each([
    ...["it's", '"quoted"', '# comment', 'a # b', 'a: b', '- item', '{a}', '{{ a }}', '[a]', '&anchor', '*alias'],
    ...[
      '!tag',
      '%directive',
      '@at',
      '`tick`',
      '>fold',
      '|block',
      '?key',
      '~',
      'yes',
      'null',
      '1e3',
      '0x10',
      '12:30:45',
    ],
    ...['---', '<<', '=', ' a', 'a ', 'a\\nb', '2026-01-02', 'long name '.repeat(20).trim(), 'ä 字', "'"],
  ])('init writes the folder name %j literally into CI files and adds no workflow expression', async (name) => {
    const root = makeRoot();
    const folder = join(root, name);
    mkdirSync(folder);
    for (const ci of ['github', 'gitlab']) {
      expect(await run(folder, ['init', ...URL, '--ci', ci])).toMatchObject({ exitCode: 0 });
    }
    const expressionsIn = (text: string): readonly string[] => text.match(/\$\{\{.*?\}\}/g) ?? [];
    for (const path of WORKFLOWS) {
      const [written, template] = [read(root, path), read(EXAMPLE, path)];
      const key = '          api-key: ${{ secrets.PROMPTSYNC_API_KEY }}\n';
      const line = `          working-directory: ${JSON.stringify(name)}\n`;
      expect(parse(written)).toEqual(parse(template.replaceAll(key, (found) => found + line)));
      expect(expressionsIn(written)).toEqual(expressionsIn(template));
    }
    const path = `PROMPTSYNC_CONFIG: ${JSON.stringify(`${name}/promptsync.yaml`)}`;
    const template = read(EXAMPLE, GITLAB[0]).replace('PROMPTSYNC_CONFIG: promptsync.yaml', () => path);
    // GitLab parses YAML 1.1, and most other tools parse YAML 1.2.
    for (const version of ['1.1', '1.2'] as const) {
      expect(parse(read(root, GITLAB[0]), { version })).toEqual(parse(template, { version }));
    }
  });

  test('init --force leaves an existing .gitlab-ci.yml unchanged and explains what to add to it', async () => {
    const folder = makeRoot();
    writeFiles(folder, { [GITLAB[1]]: 'stages: [test]\n' });
    const { exitCode, stderr } = await run(folder, ['init', ...URL, '--ci', 'gitlab', '--force']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`Add \`include: [{ local: ${GITLAB[0]} }]\` to the file.`);
    expect(read(folder, GITLAB[1])).toBe('stages: [test]\n');
    expect(read(folder, GITLAB[0])).toBe(read(EXAMPLE, GITLAB[0]));
  });

  test('init warns about another configuration in a parent folder', async () => {
    const root = makeRoot();
    writeFiles(root, { 'promptsync.yaml': '{}\n', 'a/b/x': '' });
    const { stderr, exitCode } = await run(join(root, 'a/b'), ['init', ...URL]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'A parent folder already contains a configuration file: `../../promptsync.yaml`. Commands that you run in this folder use the new configuration file instead. [init/nested]',
    );
  });

  test('init creates no example prompt if the workspace already contains prompts', async () => {
    const folder = makeWorkspace({ 'prompts/greeting.md': promptText('greeting') });
    const { report, exitCode } = await runJson(folder, ['init', '--embedded']);
    expect(exitCode).toBe(0);
    expect(report.files?.map(({ path }) => path)).toEqual(['promptsync.yaml', ...EXTENDED, '.gitignore']);
  });
});

describe('init --id', () => {
  const words = (baseUrl: string, id = 'prm_greeting') => ['init', '--url', baseUrl, '--id', id, '--ci', 'none'];

  test('init --id imports the prompt with the given id', async () => {
    const folder = makeRoot();
    const { baseUrl, environment } = await startServed('production');
    const { report, exitCode } = await runJson(folder, words(baseUrl), {
      environment: { ...environment, PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' },
    });
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ service: baseUrl });
    expect(read(folder, 'prompts/greeting.md')).toMatch(/pins:\n {2}production: version:\S+ {2}# 1\n---\n\nOne\.\n/);
    const again = await runJson(folder, words(baseUrl), { environment });
    expect(again.report.files?.map(({ status }) => status)).toEqual(['kept', 'kept', 'kept', 'kept']);
    expect(again.report.problems).toEqual([]);
  });

  test.each<[string, string, Readonly<Record<string, string>>, string]>([
    [
      'init --id writes nothing if the API key is missing',
      'prm_greeting',
      { PROMPTSYNC_API_KEY: '' },
      'config/missing-key',
    ],
    [
      'init --id writes nothing if the service rejects the API key',
      'prm_greeting',
      { PROMPTSYNC_API_KEY: 'another-key' },
      'service/not-authorised',
    ],
    [
      'init --id writes nothing if the prompt does not exist in the service',
      'prm_gone',
      {},
      'service/prompt-not-found',
    ],
    ['init --id writes nothing if no version of the prompt is active', 'prm_greeting', {}, 'import/nothing-active'],
  ])('%s', async (_, id, variables, code) => {
    const folder = makeRoot();
    const { baseUrl } = await startTestService(['greeting']);
    const environment = { PROMPTSYNC_API_KEY: KEY, ...variables };
    const { report, exitCode } = await runJson(folder, words(baseUrl, id), { environment });
    expect({ exitCode, codes: codes(report.problems), files: pathsIn(folder) }).toEqual({
      ...{ exitCode: 1, codes: [code], files: [] },
    });
  });

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      'init --id does not import a prompt if no pattern in the existing configuration matches its file path',
      { 'promptsync.yaml': 'prompts: ["texts/**/*.md"]\n' },
      ['init/kept', 'init/not-selected'],
    ],
    [
      'init --id does not import a prompt that already has a file',
      { 'prompts/mine.md': promptText('greeting', { key: 'mine' }) },
      ['import/known'],
    ],
  ])('%s', async (_, files, expected) => {
    const folder = makeWorkspace(files);
    const { baseUrl, environment } = await startServed('staging');
    const { report } = await runJson(folder, words(baseUrl), { environment });
    expect(codes(report.problems)).toEqual(expected);
    expect(pathsIn(folder)).toEqual(Object.keys(files));
  });
});

describe('init --pre-commit', () => {
  const PRE_COMMIT = '.pre-commit-config.yaml';
  const [, example = ''] =
    /```yaml\n(repos:\n[^`]*)```/.exec(readFileSync(join(import.meta.dirname, '../../../docs/editors.md'), 'utf8')) ??
    [];

  test('init --pre-commit writes the pre-commit configuration that docs/editors.md shows', async () => {
    const folder = makeRoot();
    const { exitCode, report } = await runJson(folder, ['init', ...URL, '--ci', 'none', '--pre-commit']);
    expect({ exitCode, problems: report.problems }).toEqual({ exitCode: 0, problems: [] });
    expect(read(folder, PRE_COMMIT)).toBe(example);
    expect(report.next_steps?.slice(1)).toEqual([
      `In ${PRE_COMMIT}, replace the zeros with the id of a promptsync commit that you trust.`,
      'Then commit the files and run promptsync plan.',
    ]);
  });

  test('init --pre-commit names the pre-commit configuration after the CI files that need the promptsync commit', async () => {
    const { report } = await runJson(makeRoot(), ['init', ...URL, '--pre-commit']);
    expect(report.next_steps?.[1]).toMatch(/promptsync-propose\.yml, \.pre-commit-config\.yaml, replace the zeros/);
    expect(report.next_steps?.[2]).toContain('PROMPTSYNC_API_KEY');
  });

  test('init --embedded --pre-commit writes a pre-commit configuration', async () => {
    const folder = makeRoot();
    await run(folder, ['init', '--embedded', '--pre-commit']);
    expect(read(folder, PRE_COMMIT)).toBe(example);
  });

  test('init --pre-commit in a subfolder writes to the repository root, and the hook validates the subfolder', async () => {
    const root = makeRoot();
    const folder = join(root, 'team a');
    mkdirSync(folder);
    expect(await run(folder, ['init', ...URL, '--ci', 'none', '--pre-commit'])).toMatchObject({ exitCode: 0 });
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting') });
    const [{ hooks }] = parse(read(root, PRE_COMMIT)).repos;
    expect(hooks).toEqual([{ id: 'promptsync-validate', args: ['--config', 'team a/promptsync.yaml'] }]);
    expect(await run(root, ['validate', ...hooks[0].args])).toMatchObject({ exitCode: 0, stdout: '1 prompt valid.\n' });
  });

  test.each([
    [
      'init --pre-commit warns about an existing pre-commit configuration without the hook, and --force does not overwrite it',
      'repos: []\n',
      ['init/pre-commit'],
    ],
    [
      'init --pre-commit --force silently keeps a pre-commit configuration that contains the hook',
      `${example}      - id: other\n`,
      [],
    ],
  ])('%s', async (_, content, expected) => {
    const folder = makeWorkspace({ [PRE_COMMIT]: content });
    const { report } = await runJson(folder, ['init', ...URL, '--ci', 'none', '--pre-commit', '--force']);
    expect(codes(report.problems)).toEqual(expected);
    expect(report.files).toContainEqual({ path: PRE_COMMIT, status: 'kept' });
    expect(report.next_steps?.join()).not.toContain(PRE_COMMIT);
    expect(read(folder, PRE_COMMIT)).toBe(content);
  });
});

describe('init with existing files', () => {
  const MINE = {
    'promptsync.yaml': 'prompts: ["prompts/**/*.md"]\n',
    '.github/workflows/promptsync-apply.yml': 'mine\n',
    '.gitattributes': '* text=auto\r\n*.png binary',
    '.prettierignore': 'dist/\n/prompts/**/*.md\n',
    '.gitignore': 'node_modules/\n',
  };

  test('init does not overwrite existing files whose content differs, and reports these files', async () => {
    const folder = makeWorkspace(MINE);
    const { report, exitCode, stderr } = await runJson(folder, ['init', ...URL]);
    expect(exitCode).toBe(0);
    expect(report.files).toMatchObject([
      { path: 'promptsync.yaml', status: 'kept' },
      { path: WORKFLOWS[0], status: 'created' },
      { path: WORKFLOWS[1], status: 'kept' },
      { path: WORKFLOWS[2], status: 'created' },
      { path: WORKFLOWS[3], status: 'created' },
      { path: '.gitattributes', status: 'extended' },
      { path: '.prettierignore', status: 'kept' },
    ]);
    expect(codes(report.problems)).toEqual(['init/kept', 'init/kept']);
    expect(stderr).toContain(
      '`promptsync.yaml` already exists with different content, so promptsync did not overwrite it.',
    );
    expect(read(folder, 'promptsync.yaml')).toBe(MINE['promptsync.yaml']);
    expect(read(folder, '.gitattributes')).toBe('* text=auto\r\n*.png binary\nprompts/**/*.md text eol=lf\n');
  });

  test.each<[string, string, readonly string[]]>([
    [
      'init adds the example prompt if a pattern in the existing configuration matches its path',
      '["**/*.md"]',
      [...EXTENDED, 'prompts/example/greeting.md'],
    ],
    [
      'init omits the example prompt if no pattern in the existing configuration matches its path',
      '["prompts/*.md"]',
      EXTENDED,
    ],
    [
      'init creates no .gitattributes or .prettierignore if the existing configuration selects a different folder',
      '["texts/**/*.md"]',
      [],
    ],
    ['init creates no .gitattributes or .prettierignore if the existing configuration is invalid', '1', []],
  ])('%s', async (_, prompts, written) => {
    const folder = makeWorkspace({ 'promptsync.yaml': `prompts: ${prompts}\n` });
    const words = ['init', '--embedded', '--ci', 'none'];
    const { report, exitCode } = await runJson(folder, words);
    expect(exitCode).toBe(0);
    expect(pathsIn(folder)).toEqual(['.gitignore', 'promptsync.yaml', ...written].toSorted());
    expect(codes(report.problems)).toEqual(['init/kept', ...(written.length > 2 ? [] : ['init/not-selected'])]);
    expect(codes((await runJson(folder, [...words, '--force'])).report.problems)).toEqual([]);
    expect(pathsIn(folder)).toContain('prompts/example/greeting.md');
  });

  test('init --force replaces changed files and extends ignore files so that a second init changes nothing', async () => {
    const folder = makeWorkspace(MINE);
    const { report } = await runJson(folder, ['init', ...URL, '--force']);
    const overwritten = report.files?.filter(({ status }) => status === 'overwritten').map(({ path }) => path);
    expect(overwritten).toEqual(['promptsync.yaml', WORKFLOWS[1]]);
    expect(read(folder, 'promptsync.yaml')).toContain('base_url: https://prompts.example.com');
    const { stdout, stderr } = await run(folder, ['init', ...URL]);
    expect(stdout).toContain('\n7 unchanged.\n');
    expect(stderr).toBe('');
  });

  test.each<[string, (folder: string, outside: string) => void, string]>([
    [
      'init writes nothing if the prompts folder is a symbolic link to a folder outside the repository',
      (folder, outside) => symlinkSync(outside, join(folder, 'prompts')),
      'prompts',
    ],
    [
      'init writes nothing if it would have to replace a symbolic link',
      (folder, outside) => symlinkSync(join(outside, 'x'), join(folder, '.gitattributes')),
      '.gitattributes',
    ],
    [
      'init writes nothing if it would have to replace a folder',
      (folder) => mkdirSync(join(folder, 'promptsync.yaml')),
      'promptsync.yaml',
    ],
  ])('%s', async (_, prepare, path) => {
    const [folder, outside] = [makeRoot(), makeFolder()];
    prepare(folder, outside);
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
    const written = ['promptsync.yaml', ...EXTENDED];
    expect(report.files?.map(({ path }) => path)).toEqual(written);
    expect(stdout).not.toContain('nothing was written');
  });
});

describe('invalid flags of init', () => {
  test.each<[string, readonly string[], string]>([
    ['init requires either --url or --embedded', [], 'Use `--url` to specify the URL'],
    [
      'init rejects --url together with --embedded',
      [...URL, '--embedded'],
      '`--url` and `--embedded` cannot be combined.',
    ],
    ['init rejects --id together with --embedded', ['--embedded', '--id', 'prm_a'], '`--id` requires `--url`'],
    [
      'init rejects --ci github together with --embedded',
      ['--embedded', '--ci', 'github'],
      '`--ci github` requires `--url`',
    ],
    [
      'init rejects a plain HTTP address in --url',
      ['--url', 'http://example.com'],
      'The value of `--url` is invalid: The base URL',
    ],
    [
      'init suggests `allow_http` if it rejects a plain HTTP address',
      ['--url', 'http://example.com'],
      '`allow_http: true`',
    ],
    ['init rejects an empty address in --url', ['--url', ''], 'The value of `--url` is invalid: The base URL'],
    [
      'init rejects an API key as the value of --api-key-env',
      [...URL, '--api-key-env', 'sk-live'],
      'The value of `--api-key-env`',
    ],
    [
      'init rejects a prompts folder outside the workspace',
      [...URL, '--dir', '../x'],
      'The value of `--dir` is invalid: expected a folder inside',
    ],
    ['init rejects the workspace itself as the prompts folder', [...URL, '--dir', '.'], 'The value of `--dir`'],
    ['init rejects an absolute path as the prompts folder', [...URL, '--dir', '/tmp'], 'The value of `--dir`'],
    ['init rejects a glob pattern as the prompts folder', [...URL, '--dir', 'a/**'], 'The value of `--dir`'],
    ['init rejects a prompts folder inside node_modules', [...URL, '--dir', 'a/node_modules'], 'The value of `--dir`'],
    [
      'init reports an invalid --environments value even if the values of --url and --dir are invalid too',
      ['--url', 'x', '--dir', '..', '--environments', ','],
      'The value of `--environments`',
    ],
    ['init rejects duplicate environment names', [...URL, '--environments', 'a,b,a'], 'a name is listed twice'],
    [
      'init rejects the reserved environment name promptsync in --environments',
      [...URL, '--environments', 'a,promptsync'],
      'it is reserved for promptsync',
    ],
    ['init rejects an invalid prompt id', [...URL, '--id', '..'], 'The value of `--id`'],
    [
      'init rejects control characters in an environment name',
      [...URL, '--environments', 'a\u001b[2J'],
      'it contains control characters',
    ],
  ])('%s', async (_, flags, said) => {
    const folder = makeRoot();
    const { exitCode, stdout } = await run(folder, ['init', ...flags]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(said);
    expect(pathsIn(folder)).toEqual([]);
  });
});

describe('the questions of init', () => {
  const FLAGS: InitOptions = { embedded: false, force: false };

  type Answers = Readonly<Record<string, string | boolean | null | readonly string[]>>;

  /**
   * Answers each question with the first entry whose key occurs in the question, or with the default if no entry matches.
   * A list holds the answers to a repeated question, in order. Null cancels init.
   */
  function makeInterview(answers: Answers) {
    const asked: string[] = [];
    const given = new Map<string, number>();
    const answer = (message: string): string | boolean | undefined => {
      asked.push(message);
      const [words, found] = Object.entries(answers).find(([one]) => message.includes(one)) ?? [];
      if (found === null) throw new ProblemError(makeProblem('usage/cancelled'));
      if (words === undefined || typeof found !== 'object') return found as string | boolean | undefined;
      const index = given.get(words) ?? 0;
      given.set(words, index + 1);
      return found[index];
    };
    const interview: Interview = {
      text: async ({ message, initial, findFault }) => {
        const said = String(answer(message) ?? initial);
        expect(findFault(said)).toBeNull();
        return said;
      },
      select: async ({ message, choices, initial }) => {
        const said = String(answer(message) ?? initial);
        expect(choices.map(({ value }) => value)).toContain(said);
        return said;
      },
      confirm: async ({ message, initial }) => Boolean(answer(message) ?? initial),
    };
    return { asked, interview };
  }

  /** Runs init with these answers against a service with one prompt, which is active in staging. */
  async function interviewWith(answers: Answers, flags: Partial<InitOptions> = {}, variables = {}) {
    const folder = makeFolder();
    const service = await startServed('staging');
    const { asked, interview } = makeInterview({
      'Which service': 'integration',
      'What is the address': service.baseUrl,
      'Which CI': 'none',
      ...answers,
    });
    const system = { ...makeSystem(folder, { PROMPTSYNC_API_KEY: KEY, ...variables }), interview };
    const { run: ran, exitCode } = await init({ ...FLAGS, ...flags }, system);
    return { folder, service, asked, run: ran, exitCode };
  }

  test('init asks for every value that no flag provides', async () => {
    const { folder, asked, run: ran } = await interviewWith({ 'Which folder': ' texts/ ' });
    expect(asked.map((message) => message.split(' ').slice(0, 2).join(' '))).toEqual([
      ...['Which service', 'What is', 'Which environment', 'Which folder', 'Which environments', 'Which prompt'],
      ...['Which CI', 'Should pre-commit'],
    ]);
    expect(ran.written?.map(({ path }) => path)).toEqual(['promptsync.yaml', ...EXTENDED]);
    expect(read(folder, 'promptsync.yaml')).toContain('texts/**/*.md');
    expect(read(folder, 'promptsync.yaml')).toContain('api_key_env: PROMPTSYNC_API_KEY\n');
  });

  test.each<[string, Partial<InitOptions>, readonly string[]]>([
    [
      'init chooses the embedded service if the user accepts the first choice',
      {},
      ['service', 'folder', 'environments'],
    ],
    [
      'init asks neither for a service nor for a CI system if --embedded is given',
      { embedded: true },
      ['folder', 'environments'],
    ],
    [
      'init does not ask for a service if --url is given',
      { url: 'http://127.0.0.1:1' },
      ['environment', 'environment', 'folder', 'environments', 'prompt', 'CI', 'pre-commit'],
    ],
    [
      'init asks no questions if flags provide every value',
      {
        url: 'https://a.example.com',
        apiKeyEnv: 'K',
        dir: 'p',
        environments: 'a',
        ci: 'none',
        id: 'prm',
        preCommit: true,
      },
      [],
    ],
  ])('%s', async (_, flags, subjects) => {
    const folder = makeFolder();
    const { asked, interview } = makeInterview({});
    await init({ ...FLAGS, ...flags }, { ...makeSystem(folder), interview });
    expect(asked.map((message) => /(?:Which|Should) ([\w-]+)/.exec(message)?.[1])).toEqual(subjects);
    // Only the database of the embedded service needs an entry in .gitignore.
    expect(existsSync(join(folder, '.gitignore'))).toBe(flags.url === undefined);
  });

  test('init asks for the address again if no service responds, and sends the key only to the correct address', async () => {
    const other = await startFront({ target: 'http://127.0.0.1:1', answer: () => ({ status: 302, body: '' }) });
    const service = await startServed('staging');
    const { asked, interview } = makeInterview({
      'Which service': 'integration',
      'What is the address': ['http://127.0.0.1:1', other.baseUrl, service.baseUrl],
      'Which CI': 'none',
    });
    const folder = makeFolder();
    await init(FLAGS, { ...makeSystem(folder, { PROMPTSYNC_API_KEY: KEY }), interview });
    const questions = asked.filter((message) => message.includes('What is the address'));
    expect(questions).toEqual([
      expect.stringMatching(/^What is the address/),
      expect.stringMatching(/^promptsync could not reach the service .*\nWhat is the address/),
      expect.stringMatching(/^The service returned a redirect \(302\).*\nWhat is the address/),
    ]);
    expect(read(folder, 'promptsync.yaml')).toContain(service.baseUrl);
    expect(JSON.stringify(other.requests)).not.toContain(KEY);
    expect(other.requests).toHaveLength(1);
  });

  test('init asks for the address again if its path is wrong, and sends the key only to the correct address', async () => {
    const { baseUrl } = await startServed('staging');
    const front = await startFront({ target: baseUrl });
    const { asked } = await interviewWith({ 'What is the address': [`${front.baseUrl}/wrong`, baseUrl] });
    expect(asked.filter((message) => message.includes('What is the address'))).toEqual([
      expect.stringMatching(/^What is the address/),
      expect.stringMatching(/^promptsync sent .* 404 \(not found\).*\nWhat is the address/),
    ]);
    expect(front.requests.map(({ key }) => key)).not.toContain(KEY);
  });

  test('init names the key variables if Langfuse rejects the keys, and names a prompt that Langfuse does not have', async () => {
    const langfuse = await startLangfuse();
    const variables = { LANGFUSE_PUBLIC_KEY: 'pk-lf-wrong', LANGFUSE_SECRET_KEY: 'sk-lf-wrong' };
    const answers = {
      'Which service': 'langfuse',
      'What is the address': langfuse.baseUrl,
      'Which prompt': ['gone', ''],
    };
    const refused = await interviewWith(answers, {}, variables);
    expect(refused.asked.find((message) => message.includes('401'))).toContain(
      'Check the API key in the variable `LANGFUSE_SECRET_KEY` and the variable `LANGFUSE_PUBLIC_KEY`.',
    );
    const accepted = await interviewWith(answers, {}, langfuse.environment);
    expect(accepted.asked.filter((message) => message.includes('Which prompt'))[1]).toMatch(/"gone"/);
  });

  test('init accepts an address where no service responds if the user enters the same address again', async () => {
    const { folder, asked } = await interviewWith({ 'What is the address': 'http://127.0.0.1:1' }, { apiKeyEnv: 'K' });
    expect(asked.filter((message) => message.includes('What is the address'))).toHaveLength(2);
    expect(read(folder, 'promptsync.yaml')).toContain('base_url: http://127.0.0.1:1\n');
  });

  test('init asks for the key variable again if the variable is not set or contains a key that the service rejects', async () => {
    const variables = { WRONG_KEY: 'sk-wrong' };
    const answers = { 'Which environment variable': ['UNSET_KEY', 'WRONG_KEY', 'PROMPTSYNC_API_KEY'] };
    const { folder, asked } = await interviewWith(answers, {}, variables);
    expect(asked.filter((message) => message.includes('Which environment variable'))).toEqual([
      expect.stringMatching(/^Which environment variable/),
      expect.stringMatching(/^The variable `UNSET_KEY` must contain the API key/),
      expect.stringMatching(/40[13]|rejected|refused/),
    ]);
    expect(read(folder, 'promptsync.yaml')).toContain('api_key_env: PROMPTSYNC_API_KEY\n');
    expect(asked.join('')).not.toContain('sk-wrong');
  });

  test('The user can complete init without an API key', async () => {
    const { folder, exitCode } = await interviewWith({}, {}, { PROMPTSYNC_API_KEY: '' });
    expect(exitCode).toBe(0);
    expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(true);
  });

  test('init asks for the first prompt again if the entered prompt cannot be imported', async () => {
    const { folder, asked } = await interviewWith({ 'Which prompt': ['prm_gone', 'prm_greeting'] });
    expect(asked.filter((message) => message.includes('Which prompt'))).toEqual([
      expect.stringMatching(/^Which prompt/),
      expect.stringMatching(/^The service has no prompt with the id "prm_gone" \(404\)\.\nWhich prompt/),
    ]);
    expect(read(folder, 'prompts/greeting.md')).toContain('One.');
  });

  test('init imports no prompt if the user enters an unknown prompt id and then an empty answer', async () => {
    const { folder, exitCode } = await interviewWith({ 'Which prompt': ['prm_gone', ''] });
    expect([exitCode, pathsIn(folder)]).toEqual([0, [...EXTENDED, 'promptsync.yaml']]);
  });

  test('init writes the pre-commit configuration only if the user answers the question about it with yes', async () => {
    const declined = await interviewWith({});
    const accepted = await interviewWith({ 'Should pre-commit': true });
    const hasFile = ({ folder }: { readonly folder: string }) => existsSync(join(folder, '.pre-commit-config.yaml'));
    expect([declined, accepted].map(hasFile)).toEqual([false, true]);
  });

  test('init asks for confirmation for each existing file before it overwrites that file', async () => {
    const folder = makeWorkspace({ 'promptsync.yaml': '{}\n', [WORKFLOWS[0]!]: 'mine\n' });
    const { asked, interview } = makeInterview({ 'promptsync.yaml already exists': true });
    const flags = { ...FLAGS, url: 'https://a.example.com', apiKeyEnv: 'K' };
    const { run } = await init(flags, { ...makeSystem(folder), interview });
    expect(asked.filter((message) => message.includes('Overwrite'))).toHaveLength(2);
    expect(run.written).toContainEqual({ path: 'promptsync.yaml', status: 'overwritten' });
    expect(run.written).toContainEqual({ path: WORKFLOWS[0], status: 'kept' });
  });

  test('init writes nothing if the user cancels at the last question', async () => {
    const folder = makeWorkspace({ 'promptsync.yaml': '{}\n', [WORKFLOWS[3]!]: 'mine\n' });
    const { interview } = makeInterview({
      'promptsync.yaml already exists': true,
      'promptsync-propose.yml already exists': null,
    });
    const flags = { ...FLAGS, url: 'https://a.example.com', apiKeyEnv: 'K' };
    await expect(init(flags, { ...makeSystem(folder), interview })).rejects.toThrow('promptsync made no changes');
    expect(read(folder, 'promptsync.yaml')).toBe('{}\n');
    expect(existsSync(join(folder, 'prompts'))).toBe(false);
  });

  test('init explains why it rejects an invalid answer to a question', async () => {
    const faults: Readonly<Record<string, readonly [string, string]>> = {
      'What is the address': ['http://example.com', 'plain http'],
      'Which environment variable': ['sk-live', 'the name of an environment variable'],
      'Which folder': ['/', 'expected a folder inside'],
      'Which environments': ['a,,b', 'expected names'],
      'Which prompt': ['..', 'expected the id of an existing prompt'],
    };
    const { baseUrl } = await startServed('staging');
    const { interview } = makeInterview({
      'Which service': 'integration',
      'What is the address': baseUrl,
      'Which CI': null,
    });
    const messages: (string | null)[] = [];
    const text: Interview['text'] = (question) => {
      const [, [answer] = ['']] = Object.entries(faults).find(([words]) => question.message.includes(words)) ?? [];
      messages.push(question.findFault(answer));
      return interview.text(question);
    };
    const system = makeSystem(makeFolder(), { PROMPTSYNC_API_KEY: KEY });
    await expect(init(FLAGS, { ...system, interview: { ...interview, text } })).rejects.toThrow();
    expect(messages).toEqual(Object.values(faults).map(([, said]) => expect.stringContaining(said)));
  });
});

describe('the last lines of init', () => {
  const linesOf = async (words: readonly string[]) =>
    (await run(makeRoot(), ['init', ...words])).stdout.split('written.\n')[1]?.trimEnd().split('\n');

  test('the last lines of init name the import command and the CI files that still need the promptsync commit', async () => {
    expect(await linesOf(URL)).toEqual([
      'Next: run promptsync import ID… to write files for the prompts in the service.',
      `In ${WORKFLOWS.join(', ')}, replace the zeros with the id of a promptsync commit that you trust.`,
      'In the settings of the GitHub repository, open `Environments` and create "staging", "production". Store the secret PROMPTSYNC_API_KEY in each of them and, for the other workflows, in the repository.',
      'Then commit the files and run promptsync plan.',
    ]);
  });

  test('the last lines of init for Langfuse name the command that imports all prompts', async () => {
    expect(await linesOf(['--provider', 'langfuse', ...URL, '--ci', 'gitlab'])).toEqual([
      "Next: run promptsync import '**' to write files for the prompts in Langfuse.",
      `In ${GITLAB[0]}, replace the zeros with the id of a promptsync commit that you trust.`,
      'In the CI/CD settings of the GitLab project, add the variables LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY once with each of these environment scopes: "staging", "production". For reviews and drift checks, also add the variables with the scope "*".',
      'Then commit the files and run promptsync plan.',
    ]);
  });

  test('the last lines of init do not name an existing CI file that init did not overwrite', async () => {
    const folder = makeWorkspace({ [WORKFLOWS[0]!]: 'mine\n' });
    const { report } = await runJson(folder, ['init', ...URL]);
    expect(report.next_steps?.[1]).toContain(WORKFLOWS.slice(1).join(', '));
    expect(report.next_steps?.[1]).not.toContain(WORKFLOWS[0]);
  });
});

test('init writes nothing if it is interrupted during a request to the service', async () => {
  const folder = makeRoot();
  const { baseUrl } = await startServed('staging');
  let interrupt = (): void => {};
  const front = await startFront({ target: baseUrl, answer: () => (interrupt(), null) });
  const { exitCode, report } = await runJson(folder, ['init', '--url', front.baseUrl, '--id', 'prm_greeting'], {
    environment: { PROMPTSYNC_API_KEY: KEY },
    // A second signal would end the process at once.
    onSignal: (signal) => (interrupt = once(signal)),
  });
  expect({ exitCode, files: pathsIn(folder) }).toEqual({ exitCode: 130, files: [] });
  expect(JSON.stringify(report)).toContain('apply/interrupted');
});

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}
