import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { examineMachine } from '../../../src/commands/doctor/examine-machine.ts';
import { examineService } from '../../../src/commands/doctor/examine-service.ts';
import { examineWorkspace } from '../../../src/commands/doctor/examine-workspace.ts';
import { makeProblem } from '../../../src/problem.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { startHttpsServer } from '../../http/certificate.ts';
import { listenUntilTestEnd } from '../../http/support.ts';
import {
  cloneOf,
  commitAll,
  commitEdits,
  git,
  makeFolder,
  makeRepository,
  makeWorkspace,
  writeFiles,
} from '../../support/folder.ts';
import type { Files } from '../../support/folder.ts';
import { startFrontFor, type FrontOptions } from '../../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { run } from '../../support/run.ts';
import { changeService, startTestService } from '../../support/service.ts';
import { examine, openFolder, readPoints } from './doctoring.ts';

const ENVIRONMENTS = `${CONFIG}environments:\n  staging: {}\n  production: { promote_from: staging }\n`;
const VERSIONS = { nodeVersion: '24.0.0', requiredNode: '>=22.19' };

afterEach(() => vi.unstubAllEnvs());

/** Adds a bare remote to a repository, and pushes the branch main to it. */
function addOrigin(folder: string): void {
  const bare = makeFolder();
  git(bare, 'init', '--quiet', '--bare', '--initial-branch', 'main');
  git(folder, 'remote', 'add', 'origin', bare);
  git(folder, 'push', '--quiet', '--set-upstream', 'origin', 'main');
}

/** Makes a correct setup: a pushed repository with one prompt, and a service that serves it in staging. */
async function makeSetup() {
  const service = await startTestService(['greeting']);
  await changeService(service.baseUrl, 'greeting', 'staging', 'Hi.');
  service.requests.length = 0;
  const folder = makeRepository(workspaceFiles({ greeting: {} }, ENVIRONMENTS));
  addOrigin(folder);
  return { service, folder, environment: service.environment };
}

describe('doctor without --write', () => {
  test('In a correct setup, doctor reports ok for every check, exits with 0, and sends only GET requests', async () => {
    const { folder, service, environment } = await makeSetup();
    const { exitCode, points, point, stderr } = await examine(folder, [], { environment });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(points.map(({ name }) => name)).toEqual([
      ...['Node.js', 'git', 'repository', 'remote', 'live branch', 'history', 'uncommitted files'],
      ...['configuration', 'prompt files', 'environments'],
      ...['address', 'TLS', 'proxy', 'response', 'key', 'prompt in "staging"', 'prompt in "production"'],
    ]);
    expect(points.every(({ level, hint }) => level === 'ok' && hint === null)).toBe(true);
    expect(point('Node.js').found).toBe(process.versions.node);
    expect(point('live branch').found).toContain(`"main" at ${git(folder, 'rev-parse', 'HEAD').slice(0, 12)}`);
    expect(point('key').found).toContain('the variable `PROMPTSYNC_API_KEY`');
    expect(point('prompt in "staging"').found).toBe('"greeting": version 1 is active');
    expect(point('prompt in "production"').found).toBe('"greeting": no version is active');
    expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  test('doctor prints a table, writes the formats that output files imply, and prints the report that it cannot write', async () => {
    const { folder, service, environment } = await makeSetup();
    const output = makeFolder();
    expect((await run(folder, ['doctor'], { environment })).stdout).toMatch(/\n\n\d+ ok, 0 warnings, 0 errors\.\n$/);
    const files = ['-o', join(output, 'a.json'), '-o', join(output, 'a.txt'), '-o', 'good.txt'];
    expect(await run(folder, ['doctor', ...files], { environment })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(readFileSync(join(output, 'a.json'), 'utf8'))).toMatchObject({ schema_version: 1 });
    rmSync(join(folder, 'good.txt'));
    const front = await startFrontFor(service, () => {
      rmSync(output, { recursive: true, force: true });
      return null;
    });
    const unwritten = await run(folder, ['doctor', ...files], front);
    expect(unwritten.exitCode).toBe(1);
    expect(JSON.parse(unwritten.stdout)).toMatchObject({ schema_version: 1 });
    expect(unwritten.stderr.match(/could not write the report/g)).toHaveLength(2);
    expect(readFileSync(join(folder, 'good.txt'), 'utf8')).toContain('0 errors.');
  });

  test('before it sends a request, doctor refuses an output file whose name implies no format, and --prompt without --write', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const output = await run(folder, ['doctor', '-o', 'doctor.md'], service);
    expect(output).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('usage/output-format') });
    const prompt = await run(folder, ['doctor', '--prompt', 'prm_x'], service);
    expect(prompt).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('`--prompt` requires `--write`'),
    });
    expect(service.requests).toEqual([]);
  });

  test('doctor checks the other parts if there is no configuration, no git, or only a damaged repository', async () => {
    const { folder, environment } = await makeSetup();
    const unconfigured = await examine(makeRepository({ 'README.md': 'Nothing.' }), []);
    expect(unconfigured.named('error')).toEqual(['configuration']);
    expect(unconfigured.point('configuration').hint).toContain('promptsync init');
    expect(unconfigured.point('history').level).toBe('ok');
    expect(unconfigured.point('address').found).toBe('not checked, because the configuration is not valid');
    writeFileSync(join(folder, '.git/config'), '[broken');
    const damaged = await examine(folder, [], { environment });
    expect(damaged.named('error')).toEqual(['repository']);
    expect(damaged.point('key').level).toBe('ok');
    vi.stubEnv('PATH', makeFolder());
    const { exitCode, point, named } = await examine(folder, [], { environment });
    expect({ exitCode, errors: named('error') }).toEqual({ exitCode: 1, errors: ['git'] });
    expect(point('git').found).toContain('not in PATH');
    expect(point('live branch').found).toContain('git does not run');
    expect(point('prompt in "staging"').level).toBe('ok');
  });
});

describe('the points about the machine and the repository', () => {
  /** Examines the machine and the repository of a folder, with a change to its configuration. */
  async function examineRepository(folder: string, variables = {}, branch: string | null = null) {
    const { system, workspace } = await openFolder(folder, variables);
    const { config } = workspace;
    const changed = { ...workspace, config: config && { ...config, branch } };
    return readPoints((await examineMachine(VERSIONS, changed, system)).points);
  }

  test.each([
    ['22.18.0', 'error'],
    ['22.19.0', 'ok'],
  ])('if promptsync needs Node.js >=22.19, the level of the version %s is %s', async (nodeVersion, level) => {
    const { system, workspace } = await openFolder(makeFolder());
    const { points } = await examineMachine({ ...VERSIONS, nodeVersion }, workspace, system);
    expect(points[0]).toMatchObject({ level, hint: level === 'ok' ? null : 'Install a newer Node.js.' });
  });

  test('doctor warns about a missing repository, a missing remote and uncommitted files, and contacts no remote for the embedded service', async () => {
    const files = workspaceFiles({ greeting: {} });
    const { point, named } = await examineRepository(makeWorkspace(files));
    expect(named('warning')).toEqual(['repository']);
    expect(point('repository').hint).toContain('git init');
    const folder = makeRepository(files);
    writeFiles(folder, { 'prompts/new.md': promptText('new') });
    const local = await examineRepository(folder);
    expect(local.named('warning')).toEqual(['remote', 'live branch', 'uncommitted files']);
    expect(local.point('remote').hint).toContain('git remote add');
    const hint = expect.stringContaining('Commit');
    expect(local.point('uncommitted files')).toMatchObject({ found: '1 file: "prompts/new.md"', hint });
    git(folder, 'rm', '-q', '--cached', 'promptsync.yaml');
    commitEdits(folder, 'Untrack the configuration');
    const untracked = await examineRepository(folder);
    expect(untracked.point('uncommitted files').found).toBe('2 files: "prompts/new.md", "promptsync.yaml"');
    writeFiles(folder, { 'promptsync.yaml': `service: { embedded: a.db }\n${CONFIG}` });
    const embedded = await examineRepository(folder);
    expect(embedded.point('remote')).toMatchObject({ level: 'ok', found: 'not needed for the embedded service' });
  });

  test('doctor reports a live branch that it cannot read and remotes among which it cannot choose, and hides the credentials of a remote', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    addOrigin(folder);
    const { named, point } = await examineRepository(folder, {}, 'live');
    expect(named('error')).toEqual(['live branch']);
    expect(point('live branch').found).toContain('refs/heads/live');
    git(folder, 'remote', 'set-url', 'origin', join(makeFolder(), 'gone'));
    const unreachable = await examineRepository(folder);
    expect(unreachable.named('error')).toEqual(['live branch']);
    expect(unreachable.point('live branch').hint).toContain('git ls-remote');
    // The action reads the live branch from the API.
    const inAction = await examineRepository(folder, { GITHUB_ACTIONS: 'true' });
    const warning = { level: 'warning', hint: expect.stringContaining('persist-credentials') };
    expect(inAction.point('live branch')).toMatchObject(warning);
    for (const credentials of ['robot:hunter2@', 'robot:hunt/er2/hunter2@', 'hunter2@']) {
      git(folder, 'remote', 'set-url', 'origin', `http://${credentials}127.0.0.1:1/acme/prompts`);
      const { points, point: hidden } = await examineRepository(folder);
      expect(hidden('remote').found).toBe('"origin": http://127.0.0.1:1/acme/prompts');
      expect(JSON.stringify(points)).not.toContain('hunter2');
    }
    git(folder, 'remote', 'rename', 'origin', 'one');
    git(folder, 'remote', 'add', 'two', 'https://example.invalid/two');
    git(folder, 'config', '--unset', 'branch.main.remote');
    expect((await examineRepository(folder)).point('remote')).toMatchObject({
      level: 'error',
      found: expect.stringContaining('one, two'),
      hint: expect.stringMatching(/^Set `branch` .*--set-upstream-to/),
    });
  });

  test('doctor warns about a shallow clone and says how to complete it there', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }, `service: { embedded: a.db }\n${CONFIG}`));
    commitAll(folder, 'Second');
    const clone = cloneOf(folder);
    for (const [variables, hint] of [
      [{}, 'git fetch --unshallow'],
      [{ GITLAB_CI: 'true' }, 'variable `GIT_DEPTH: 0`'],
      [{ GITHUB_ACTIONS: 'true' }, '`fetch-depth: 0` for `actions/checkout`'],
    ] as const) {
      const { point } = await examineRepository(clone, variables);
      expect(point('history')).toMatchObject({ level: 'warning', hint: expect.stringContaining(hint) });
    }
  });

  test('the hint for a repository of another user mentions the setting safe.directory', () => {
    const reason =
      "fatal: detected dubious ownership in repository at '/home/a b' To add an exception for this directory, call: …";
    expect(makeProblem('git/failed', { reason }).hint).toBe(
      "If you trust the owner of the repository, run `git config --global --add safe.directory '/home/a b'`.",
    );
  });

  test.each([
    [
      "error: external filter 'git-crypt smudge' failed 1 fatal: a.md: smudge filter git-crypt failed",
      'filter=git-crypt',
    ],
    ["error: external filter 'decrypt' failed", 'filter'],
  ])('the hint for the git error %j mentions the attribute %s', (reason, attribute) => {
    expect(makeProblem('git/failed', { reason, isPartial: true }).hint).toBe(
      `Make sure that the program and the key for the git attribute \`${attribute}\` are available. For example, run \`git-crypt unlock\` or \`git lfs pull\`.`,
    );
  });
});

describe('the points about the configuration and the prompt files', () => {
  test.each<[string, Files, readonly object[]]>([
    [
      'doctor reports every problem of an invalid configuration with its line number',
      { 'promptsync.yaml': 'prompt: [a]\nconcurrency: many\n' },
      [
        { name: 'configuration', found: expect.stringMatching(/^promptsync\.yaml:1:1: .*`prompt`/) },
        { name: 'configuration', found: expect.stringMatching(/^promptsync\.yaml:2:\d+: .*`concurrency`/) },
      ],
    ],
    [
      'doctor reports the first error in the prompt files',
      { 'promptsync.yaml': CONFIG, 'prompts/a.md': 'no front matter', 'prompts/b.md': '---\nid: b\n---\n\n' },
      [
        { name: 'configuration', level: 'ok' },
        { level: 'error', found: expect.stringMatching(/^\d errors\. prompts\/a\.md:1:1: /) },
        { name: 'environments', level: 'warning' },
      ],
    ],
    [
      'doctor reports a warning for a workspace without prompt files, which a new user has',
      { 'promptsync.yaml': CONFIG },
      [
        { name: 'configuration', level: 'ok' },
        { name: 'prompt files', level: 'warning' },
        { name: 'environments', level: 'warning', hint: expect.stringContaining('staging: latest') },
      ],
    ],
    [
      'doctor reports the number of warnings of validate',
      workspaceFiles({ greeting: { text: 'Hi\u200b.' } }, ENVIRONMENTS),
      [
        { name: 'configuration', level: 'ok', found: '"promptsync.yaml"' },
        { name: 'prompt files', level: 'warning', found: '1 valid prompt, 1 warning' },
        { name: 'environments', level: 'ok', found: '"staging" and "production" (in promotion order)' },
      ],
    ],
  ])('%s', async (_, files, expected) => {
    const { workspace, system } = await openFolder(makeWorkspace(files));
    expect(examineWorkspace(workspace, system)).toMatchObject(expected);
  });
});

describe('the points about the service', () => {
  type Setup = {
    readonly config?: string;
    readonly variables?: Readonly<Record<string, string>>;
    readonly answer?: FrontOptions['answer'];
  };

  /** Examines a service that serves one prompt in staging. With `answer`, a front before it answers some requests. */
  async function examineServer({ config = ENVIRONMENTS, variables = {}, answer }: Setup) {
    const service = await startTestService(['greeting']);
    await changeService(service.baseUrl, 'greeting', 'staging', 'Hi.');
    service.requests.length = 0;
    const { environment } = await startFrontFor(service, answer);
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, config));
    const { system, workspace } = await openFolder(folder, { ...environment, ...variables });
    const points = await examineService(workspace, {}, system);
    return { ...readPoints(points), service, printed: JSON.stringify(points) };
  }

  const respond = (status: number, body: string) => ({ answer: () => ({ status, body }) });

  const server = (PROMPTSYNC_BASE_URL: string, more = {}): Setup => ({ variables: { PROMPTSYNC_BASE_URL, ...more } });
  const WRONG = { PROMPTSYNC_API_KEY: 'sk-wrong-0123456789' };
  const PROXY = { https_proxy: 'http://:99999' };
  const KEY_ENV = `service: { api_key_env: MY_KEY }\n${ENVIRONMENTS}`;

  test.each<[title: string, setup: Setup, error: string, point: { found?: string; hint?: string }]>([
    ['doctor reports a configuration without a service', server(''), 'address', { hint: 'service.base_url' }],
    ['doctor reports a missing key and its variable', { config: KEY_ENV }, 'key', { found: 'MY_KEY' }],
    ['doctor reports the variable of a rejected key', { variables: WRONG }, 'key', { hint: 'PROMPTSYNC_API_KEY' }],
    ['doctor reports a missing server', server('http://127.0.0.1:1'), 'response', { found: 'connection refused' }],
    ['doctor reports a web page', respond(200, '<!doctype html>'), 'response', { hint: 'base URL' }],
    ['doctor reports an address without prompts', respond(404, '{}'), 'prompt', { hint: 'check the address' }],
    ['doctor reports an invalid proxy', server('https://prompts.invalid', PROXY), 'proxy', { found: 'https_proxy' }],
  ])('%s', async (_, setup, error, expected) => {
    const { named, point, printed, service } = await examineServer(setup);
    expect(named('error')[0]).toBe(error);
    for (const [part, text] of Object.entries(expected)) expect(point(error)[part as 'found' | 'hint']).toContain(text);
    expect(printed).not.toContain('sk-wrong');
    if (error === 'key') return;
    expect(service.requests).toEqual([]);
  });

  test('doctor reports an environment that it cannot read, and still reads the other one', async () => {
    const { point, named } = await examineServer({
      answer: ({ path }) => (path.endsWith('=production') ? { status: 403, body: '{}' } : null),
    });
    expect(named('error')).toEqual(['prompt in "production"']);
    expect([point('key').level, point('prompt in "staging"').level]).toEqual(['ok', 'ok']);
  });

  test('doctor warns about a slow response and skips the other environments if no server responds', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, ENVIRONMENTS));
    const { system, workspace } = await openFolder(folder, service.environment);
    let now = 0;
    const slow = readPoints(await examineService(workspace, {}, { ...system, now: () => (now += 3_000) }));
    expect(slow.point('response')).toMatchObject({ level: 'warning', found: 'status 200 after 3000 ms' });
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' };
    const gone = await openFolder(folder, environment);
    const paths: string[] = [];
    await examineService(gone.workspace, { onCall: ({ path }) => void paths.push(path) }, gone.system);
    expect(paths.some((path) => path.includes('environment=staging'))).toBe(true);
    expect(paths.some((path) => path.includes('environment=production'))).toBe(false);
  });

  test('doctor reports a certificate that Node.js does not trust, and warns if Node.js does not check certificates', async () => {
    const { url } = await startHttpsServer((_, response) => void response.end('{}'));
    const untrusted = await examineServer({ variables: { PROMPTSYNC_BASE_URL: url } });
    expect(untrusted.named('error')).toEqual(['TLS', 'response']);
    expect(untrusted.point('TLS').hint).toContain('NODE_EXTRA_CA_CERTS');
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const variables = { PROMPTSYNC_BASE_URL: url, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { point } = await examineServer({ variables });
    expect(point('response').found).not.toContain('certificate');
    const hint = expect.stringContaining('NODE_EXTRA_CA_CERTS');
    expect(point('TLS')).toMatchObject({ level: 'warning', found: expect.stringContaining('not checked'), hint });
  });

  test("doctor warns about plain http, and names the proxy that refuses the connection, but hides the proxy's password", async () => {
    const plain = await examineServer({
      config: `service: { allow_http: true }\n${ENVIRONMENTS}`,
      variables: { PROMPTSYNC_BASE_URL: 'http://prompts.invalid', http_proxy: 'http://127.0.0.1:1' },
    });
    expect(plain.point('TLS')).toMatchObject({ level: 'warning', found: expect.stringContaining('read the key') });
    const proxy = createServer().on('connect', (_, socket) => void socket.end('HTTP/1.1 403 No\r\n\r\n'));
    const { port } = await listenUntilTestEnd(proxy);
    const HTTPS_PROXY = `http://user:hunter2@127.0.0.1:${port}`;
    const { point, named, printed } = await examineServer({
      variables: { PROMPTSYNC_BASE_URL: 'https://prompts.invalid', HTTPS_PROXY },
    });
    expect(point('proxy')).toMatchObject({ level: 'ok', found: `127.0.0.1:${port} (from HTTPS_PROXY)` });
    expect(named('error')).toEqual(['response']);
    expect(point('response').found).toContain('the proxy rejected the tunnel');
    expect(point('TLS').level).toBe('warning');
    expect(printed).not.toContain('hunter2');
  });

  test('doctor checks a Langfuse key even without prompt files, and does not translate names that contain the words environment and service', async () => {
    const { environment } = await startLangfuse();
    const config = 'prompts: ["the service/**/*.md"]\nenvironments: { environment: {}, environments: {} }\n';
    const folder = makeWorkspace({ 'promptsync.yaml': `service: { provider: langfuse }\n${config}` });
    const examineWith = async (variables: typeof environment) => {
      const { system, workspace } = await openFolder(folder, variables);
      return readPoints([...examineWorkspace(workspace, system), ...(await examineService(workspace, {}, system))]);
    };
    const { point } = await examineWith(environment);
    expect(point('key').found).toContain('`LANGFUSE_SECRET_KEY` and the variable `LANGFUSE_PUBLIC_KEY`');
    const wrong = await examineWith({ ...environment, LANGFUSE_SECRET_KEY: 'sk-lf-wrong-0123456789' });
    expect(wrong.point('key')).toMatchObject({ level: 'error', found: expect.stringContaining('401') });
    const source = '---\nid: a\nkey: environment\npins: { environment: latest }\n---\n\nHi.\n';
    writeFiles(folder, { 'the service/an environment .md': source });
    const { point: named } = await examineWith(environment);
    expect(named('environments').found).toBe('"environment" and "environments" (in promotion order)');
    expect(named('prompt in "environment"').found).toBe('"environment": no version is active');
  });

  test("doctor examines the embedded service, and reports an error if it cannot open the service's SQLite file", async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, `service: { embedded: a.db }\n${CONFIG}`));
    const examineEmbedded = async () => {
      const { system, workspace } = await openFolder(folder);
      return examineService(workspace, {}, system).then(readPoints);
    };
    const { point } = await examineEmbedded();
    expect(point('address').found).toBe('embedded:a.db');
    expect(point('prompt in "staging"').found).toBe('"greeting": no version is active');
    writeFiles(folder, { 'a.db': 'no database' });
    chmodSync(join(folder, 'a.db'), 0o600);
    const broken = await examine(folder, []);
    expect(broken.named('error')).toEqual(['address']);
    expect(broken.point('address').hint).toContain('service.embedded');
  });
});
