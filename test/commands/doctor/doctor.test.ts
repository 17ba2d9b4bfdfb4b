import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { examineSetup } from '../../../src/commands/doctor/doctor.ts';
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
import { startFront } from '../../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { run } from '../../support/run.ts';
import { changeService, KEY, startTestService } from '../../support/service.ts';
import { makeSystem } from '../../support/system.ts';
import { examine } from './doctoring.ts';

const ENVIRONMENTS = `${CONFIG}environments:\n  staging: {}\n  production: { promote_from: staging }\n`;

afterEach(() => vi.unstubAllEnvs());

/** Adds a bare remote to a repository, and pushes the branch main to it. */
function addOrigin(folder: string): string {
  const bare = makeFolder();
  git(bare, 'init', '--quiet', '--bare', '--initial-branch', 'main');
  git(folder, 'remote', 'add', 'origin', bare);
  git(folder, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  return bare;
}

/** Makes a correct setup: a pushed repository with one prompt, and a service that serves it in staging. */
async function makeSetup(config = ENVIRONMENTS) {
  const service = await startTestService(['greeting']);
  await changeService(service.baseUrl, 'greeting', 'staging', 'Hi.');
  service.requests.length = 0;
  const folder = makeRepository(workspaceFiles({ greeting: {} }, config));
  const origin = addOrigin(folder);
  return { service, folder, origin, environment: service.environment };
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

  test('doctor reports a correct Langfuse setup as ok and says label instead of environment', async () => {
    const langfuse = await startLangfuse();
    const folder = makeRepository({
      'promptsync.yaml': `service: { provider: langfuse }\n${ENVIRONMENTS}`,
      'prompts/a.md': '---\nid: a\npins:\n  staging: latest\n---\n\nHi.\n',
    });
    addOrigin(folder);
    const { environment } = langfuse;
    expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 0 });
    langfuse.takeWrites();
    const { exitCode, named, point } = await examine(folder, [], { environment });
    expect({ exitCode, problems: [...named('warning'), ...named('error')] }).toEqual({ exitCode: 0, problems: [] });
    expect(point('key').found).toContain('`LANGFUSE_SECRET_KEY` and the variable `LANGFUSE_PUBLIC_KEY`');
    expect(point('prompt in "staging"').found).toBe('"a": version 1 is active');
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test('with Langfuse, doctor does not translate keys, branches, environments and paths that contain the words environment and service', async () => {
    const { environment } = await startLangfuse();
    const config = 'prompts: ["the service/**/*.md"]\nenvironments: { environment: {}, environments: {} }\n';
    const folder = makeRepository({
      'promptsync.yaml': `service: { provider: langfuse }\n${config}`,
      'the service/an environment .md': '---\nid: a\nkey: environment\npins: { environment: latest }\n---\n\nHi.\n',
    });
    git(folder, 'branch', '--move', 'environment');
    const bare = makeFolder();
    git(bare, 'init', '--quiet', '--bare', '--initial-branch', 'environment');
    git(folder, 'remote', 'add', 'environment', bare);
    git(folder, 'push', '--quiet', '--set-upstream', 'environment', 'environment');
    writeFiles(folder, {
      'the service/an environment .md': '---\nid: a\nkey: environment\npins: { environment: latest }\n---\n\nHo.\n',
    });
    const { point } = await examine(folder, [], { environment });
    expect(point('remote').found).toMatch(/^"environment": /);
    expect(point('live branch').found).toMatch(/^"environment" at /);
    expect(point('uncommitted files').found).toBe('1 file: "the service/an environment .md"');
    expect(point('environments').found).toBe('"environment" and "environments" (in promotion order)');
    expect(point('prompt in "environment"').found).toBe('"environment": no version is active');
  });

  test('doctor prints a table with a summary and shows each hint below its point', async () => {
    const { folder, environment } = await makeSetup();
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'New.' }) });
    const { stdout, exitCode } = await run(folder, ['doctor'], { environment });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Machine and repository\n  ok       Node.js ');
    expect(stdout).toMatch(/ {2}warning {2}uncommitted files {2,}1 file: "prompts\/greeting\.md"\n {11}Commit these/);
    expect(stdout).toMatch(/\n\n\d+ ok, 1 warning, 0 errors\.\n$/);
  });

  test('doctor --output writes the format that the file name implies', async () => {
    const { folder, environment } = await makeSetup();
    const output = makeFolder();
    const files = ['-o', join(output, 'doctor.json'), '-o', join(output, 'doctor.txt')];
    expect(await run(folder, ['doctor', ...files], { environment })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(readFileSync(join(output, 'doctor.json'), 'utf8'))).toMatchObject({ schema_version: 1 });
    expect(readFileSync(join(output, 'doctor.txt'), 'utf8')).toContain('0 errors.');
  });

  test('doctor prints the report on standard output if an output file becomes unwritable in the meantime', async () => {
    const { folder, service, environment } = await makeSetup();
    const output = join(makeFolder(), 'out');
    mkdirSync(output);
    const { baseUrl } = await startFront({
      target: service.baseUrl,
      answer: () => {
        rmSync(output, { recursive: true, force: true });
        return null;
      },
    });
    const files = ['-o', join(output, 'a.json'), '-o', join(output, 'a.txt'), '-o', 'good.txt'];
    const variables = { ...environment, PROMPTSYNC_BASE_URL: baseUrl };
    const { exitCode, stdout, stderr } = await run(folder, ['doctor', ...files], { environment: variables });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ schema_version: 1 });
    expect(stderr.match(/could not write the report/g)).toHaveLength(2);
    expect(readFileSync(join(folder, 'good.txt'), 'utf8')).toContain('0 errors.');
  });

  test('before it sends a request, doctor refuses an output file whose name implies no format', async () => {
    const { folder, service, environment } = await makeSetup();
    const { exitCode, stderr } = await run(folder, ['doctor', '-o', 'doctor.md'], { environment });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('usage/output-format') });
    expect(service.requests).toEqual([]);
  });

  test('doctor --quiet prints only the errors and the summary', async () => {
    const { folder } = await makeSetup();
    const { stdout } = await run(folder, ['doctor', '--quiet'], { environment: { PROMPTSYNC_API_KEY: KEY } });
    expect(stdout).toMatch(/^Service\n {2}error {4}address .*\n.*\n\n\d+ ok, \d warnings?, 1 error\.\n$/);
  });

  test('doctor refuses --prompt without --write', async () => {
    const { folder, environment } = await makeSetup();
    const { exitCode, stdout, stderr } = await run(folder, ['doctor', '--prompt', 'prm_x'], { environment });
    expect({ exitCode, stdout, stderr }).toEqual({
      ...{ exitCode: 1, stdout: '' },
      stderr: expect.stringContaining('`--prompt` requires `--write`'),
    });
  });
});

describe('the points about the machine and the repository', () => {
  test.each([
    ['20.20.2', 'error'],
    ['22.18.0', 'error'],
    ['22.19.0', 'ok'],
    ['24.0.0', 'ok'],
  ])('if promptsync needs Node.js >=22.19, the level of the version %s is %s', async (nodeVersion, level) => {
    const options = { write: false, prompt: undefined, yes: false, nodeVersion, requiredNode: '>=22.19' };
    const { sections } = await examineSetup(options, makeSystem(makeFolder()));
    const point = sections[0]?.points.find(({ name }) => name === 'Node.js');
    expect(point).toMatchObject({ level, hint: level === 'ok' ? null : 'Install a newer Node.js.' });
  });

  test('doctor warns if there is no repository, and still checks the service', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const { exitCode, point, named } = await examine(folder, [], service);
    expect(exitCode).toBe(0);
    expect(named('warning')).toEqual(['repository']);
    expect(point('repository').hint).toContain('git init');
    expect(point('key').level).toBe('ok');
  });

  test('doctor reports an error if git cannot be run, and still checks the service', async () => {
    const { folder, environment } = await makeSetup();
    vi.stubEnv('PATH', makeFolder());
    const { exitCode, point, named } = await examine(folder, [], { environment });
    expect({ exitCode, errors: named('error') }).toEqual({ exitCode: 1, errors: ['git'] });
    expect(point('git')).toMatchObject({
      found: expect.stringContaining('not in PATH'),
      hint: expect.stringContaining('Install'),
    });
    expect(point('live branch').found).toContain('git does not run');
    expect(point('prompt in "staging"').level).toBe('ok');
  });

  test('doctor reports an error if the repository is damaged, and still checks the service', async () => {
    const { folder, environment } = await makeSetup();
    writeFileSync(join(folder, '.git/config'), '[broken');
    const { named } = await examine(folder, [], { environment });
    expect(named('error')).toEqual(['repository']);
  });

  test('doctor warns if the repository has no remote', async () => {
    const { environment } = await makeSetup();
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const { exitCode, point } = await examine(folder, [], { environment });
    expect(exitCode).toBe(0);
    expect(point('remote')).toMatchObject({ level: 'warning', hint: expect.stringContaining('git remote add') });
    expect(point('live branch').level).toBe('warning');
  });

  test('doctor reports an error if it cannot tell which of several remotes has the live branch', async () => {
    const { folder, environment } = await makeSetup();
    git(folder, 'remote', 'rename', 'origin', 'one');
    git(folder, 'remote', 'add', 'two', 'https://example.invalid/two');
    git(folder, 'config', '--unset', 'branch.main.remote');
    const { point } = await examine(folder, [], { environment });
    expect(point('remote')).toMatchObject({
      level: 'error',
      found: expect.stringContaining('one, two'),
      hint: expect.stringMatching(/^Set `branch` .*--set-upstream-to/),
    });
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

  test.skipIf(process.getuid?.() !== 0)('doctor says how to trust the owner of the repository', async () => {
    const { folder, environment } = await makeSetup();
    chownSync(folder, 65_534, 65_534);
    const { point } = await examine(folder, ['--config', 'promptsync.yaml'], { environment });
    expect(point('repository')).toMatchObject({ level: 'error', hint: expect.stringContaining('safe.directory') });
  });

  test.each(['robot:hunter2@', 'robot:hunt/er2/hunter2@', 'hunter2@'])(
    "doctor shows the remote's address but hides the credentials %j in it",
    async (credentials) => {
      const { folder, environment } = await makeSetup();
      git(folder, 'remote', 'set-url', 'origin', `http://${credentials}127.0.0.1:1/acme/prompts`);
      const { stdout, point } = await examine(folder, [], { environment });
      expect(point('remote').found).toBe('"origin": http://127.0.0.1:1/acme/prompts');
      expect(point('live branch').level).toBe('error');
      expect(stdout).not.toContain('hunter2');
    },
  );

  test.each(['127.0.0.1', '127.0.0.1:1'])(
    'doctor shows the complete address of a remote at %s whose path contains an @',
    async (host) => {
      const { folder, environment } = await makeSetup();
      git(folder, 'remote', 'set-url', 'origin', `http://${host}/@acme/prompts`);
      const { point } = await examine(folder, [], { environment });
      expect(point('remote').found).toBe(`"origin": http://${host}/@acme/prompts`);
    },
  );

  test('doctor reports an error if the remote does not have the configured branch', async () => {
    const { folder, environment } = await makeSetup(`${ENVIRONMENTS}branch: live\n`);
    const { exitCode, point } = await examine(folder, [], { environment });
    expect(exitCode).toBe(1);
    expect(point('live branch')).toMatchObject({ level: 'error', found: expect.stringContaining('refs/heads/live') });
  });

  test('doctor reports an error if the remote cannot be reached', async () => {
    const { folder, environment } = await makeSetup();
    git(folder, 'remote', 'set-url', 'origin', join(makeFolder(), 'gone'));
    const { named, point } = await examine(folder, [], { environment });
    expect(named('error')).toEqual(['live branch']);
    expect(point('live branch').hint).toContain('git ls-remote');
  });

  test.each([
    [{}, 'git fetch --unshallow'],
    [{ GITLAB_CI: 'true' }, 'GIT_DEPTH: 0'],
  ])('doctor warns about a shallow clone and says how to complete it (environment: %j)', async (variables, hint) => {
    const { folder, environment } = await makeSetup();
    writeFiles(folder, { 'other.txt': 'a' });
    commitAll(folder, 'Second');
    const clone = cloneOf(folder);
    const { exitCode, point } = await examine(clone, [], { environment: { ...environment, ...variables } });
    expect(exitCode).toBe(0);
    expect(point('history')).toMatchObject({ level: 'warning', hint: expect.stringContaining(hint) });
  });

  test.each([
    ['doctor warns about prompt files that are not committed', false, '1 file: "prompts/new.md"'],
    ['doctor warns about an untracked promptsync.yaml', true, '2 files: "prompts/new.md", "promptsync.yaml"'],
  ])('%s', async (_, isUntracked, found) => {
    const { folder, environment } = await makeSetup();
    if (isUntracked) {
      git(folder, 'rm', '-q', '--cached', 'promptsync.yaml');
      commitEdits(folder, 'Untrack the configuration');
    }
    writeFiles(folder, { 'prompts/new.md': promptText('new') });
    const { point } = await examine(folder, [], { environment });
    const hint = expect.stringContaining('Commit');
    expect(point('uncommitted files')).toMatchObject({ level: 'warning', found, hint });
  });

  test('doctor does not contact the remote if the workspace uses the embedded service', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }, `service: { embedded: a.db }\n${CONFIG}`));
    const { exitCode, named, point } = await examine(folder, []);
    expect({ exitCode, warnings: named('warning') }).toEqual({ exitCode: 0, warnings: [] });
    expect(point('address').found).toBe('embedded:a.db');
    expect(point('prompt in "staging"').found).toBe('"greeting": no version is active');
  });
});

describe('the points about the configuration and the prompt files', () => {
  test('doctor reports a missing configuration, and still checks the repository', async () => {
    const folder = makeRepository({ 'README.md': 'Nothing.' });
    const { exitCode, point, named } = await examine(folder, []);
    expect({ exitCode, errors: named('error') }).toEqual({ exitCode: 1, errors: ['configuration'] });
    expect(point('configuration').hint).toContain('promptsync init');
    expect(point('history').level).toBe('ok');
    expect(point('address').found).toBe('not checked, because the configuration is not valid');
  });

  test('doctor reports every problem in an invalid configuration with its line number', async () => {
    const folder = makeWorkspace({ 'promptsync.yaml': 'prompt: [a]\nconcurrency: many\n' });
    const { points } = await examine(folder, []);
    const found = points.filter(({ name }) => name === 'configuration').map((point) => point.found);
    expect(found).toEqual([
      expect.stringMatching(/^promptsync\.yaml:1:1: .*`prompt`/),
      expect.stringMatching(/^promptsync\.yaml:2:\d+: .*`concurrency`/),
    ]);
  });

  test('doctor reports the first error in the prompt files and suggests promptsync validate', async () => {
    const { folder, environment } = await makeSetup();
    writeFiles(folder, { 'prompts/a.md': 'no front matter', 'prompts/b.md': '---\nid: b\n---\n\n' });
    const { point } = await examine(folder, [], { environment });
    expect(point('prompt files')).toMatchObject({
      level: 'error',
      found: expect.stringMatching(/^\d errors\. prompts\/a\.md:1:1: /),
      hint: expect.stringContaining('promptsync validate'),
    });
  });

  test('doctor warns about a workspace without prompt files, which a new user has', async () => {
    const { environment } = await startTestService([]);
    const folder = makeWorkspace({ 'promptsync.yaml': CONFIG });
    const { exitCode, point } = await examine(folder, [], { environment });
    expect(exitCode).toBe(0);
    expect(point('prompt files').level).toBe('warning');
    expect(point('environments')).toMatchObject({ level: 'warning', hint: expect.stringContaining('staging: latest') });
    expect(point('key').found).toBe('not checked, because no prompt file has a real prompt id yet');
  });

  test('doctor reports a warning if validate has warnings about the prompt files', async () => {
    const { folder, environment } = await makeSetup();
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'Hi\u200b.' }) });
    const { point } = await examine(folder, [], { environment });
    expect(point('prompt files')).toMatchObject({ level: 'warning', found: '1 valid prompt, 1 warning' });
  });
});

describe('the points about the service', () => {
  test('doctor reports a configuration without a service', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const { point } = await examine(folder, []);
    expect(point('address')).toMatchObject({ level: 'error', hint: expect.stringContaining('service.base_url') });
  });

  test('doctor reports a missing key and names its variable', async () => {
    const { folder, service } = await makeSetup(`service: { api_key_env: MY_KEY }\n${ENVIRONMENTS}`);
    const { point, named } = await examine(folder, [], { environment: { PROMPTSYNC_BASE_URL: service.baseUrl } });
    expect(named('error')).toEqual(['key']);
    expect(point('key').found).toContain('MY_KEY');
    expect(service.requests).toEqual([]);
  });

  test('doctor names the variable of a rejected key and does not print the key', async () => {
    const { folder, environment } = await makeSetup();
    const wrong = { ...environment, PROMPTSYNC_API_KEY: 'sk-wrong-0123456789' };
    const { exitCode, point, stdout, named } = await examine(folder, [], { environment: wrong });
    expect({ exitCode, errors: named('error') }).toEqual({ exitCode: 1, errors: ['key'] });
    expect(point('key')).toMatchObject({
      found: expect.stringContaining('401'),
      hint: expect.stringContaining('PROMPTSYNC_API_KEY'),
    });
    expect(point('response').level).toBe('ok');
    expect(stdout).not.toContain('sk-wrong');
  });

  test('doctor reports an address at which no server responds, and skips the other environments', async () => {
    const { folder, environment } = await makeSetup();
    const { point, named, stderr } = await examine(folder, ['--verbose'], {
      environment: { ...environment, PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' },
    });
    expect(named('error')).toEqual(['response']);
    expect(point('response').found).toContain('connection refused');
    expect(point('key').found).toContain('not checked');
    expect(stderr).not.toContain('environment=production');
  });

  test.each([
    ['doctor reports an address that returns a web page', 200, '<!doctype html>', 'response', 'base URL'],
    ['doctor reports an address that redirects', 302, '', 'response', 'redirects'],
    ['doctor reports an address at which no prompt exists', 404, '{}', 'prompt', 'check the address'],
    [
      'doctor reports an error if the service answers with a server error',
      500,
      '{"detail":"down"}',
      'response',
      'later',
    ],
  ])('%s', async (_, status, body, name, hint) => {
    const { folder, environment } = await makeSetup();
    const { baseUrl } = await startFront({ answer: () => ({ status, body }) });
    const { point, named } = await examine(folder, [], {
      environment: { ...environment, PROMPTSYNC_BASE_URL: baseUrl },
    });
    expect(named('error')).toEqual([name]);
    expect(point(name).hint).toContain(hint);
  });

  test('doctor reports an environment that it cannot read, and still reads the other one', async () => {
    const { folder, service, environment } = await makeSetup();
    const { baseUrl } = await startFront({
      target: service.baseUrl,
      answer: ({ path }) => (path.endsWith('=production') ? { status: 403, body: '{}' } : null),
    });
    const { point, named } = await examine(folder, [], {
      environment: { ...environment, PROMPTSYNC_BASE_URL: baseUrl },
    });
    expect(named('error')).toEqual(['prompt in "production"']);
    expect(point('key').level).toBe('ok');
    expect(point('prompt in "staging"').level).toBe('ok');
  });

  test('doctor warns about a slow response', async () => {
    const { folder, environment } = await makeSetup();
    let now = 0;
    const { point } = await examine(folder, [], { environment, now: () => (now += 3_000) });
    expect(point('response')).toMatchObject({ level: 'warning', found: 'status 200 after 3000 ms' });
  });

  test('doctor reports a TLS error for a certificate that Node.js does not trust', async () => {
    const { folder, environment } = await makeSetup();
    const { url } = await startHttpsServer((_, response) => void response.end('{}'));
    const { point } = await examine(folder, [], { environment: { ...environment, PROMPTSYNC_BASE_URL: url } });
    expect(point('TLS')).toMatchObject({ level: 'error', hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
    expect(point('response').level).toBe('error');
  });

  test('doctor warns if Node.js does not check certificates', async () => {
    const { folder, environment } = await makeSetup();
    const { url } = await startHttpsServer((_, response) => void response.end('{}'));
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const variables = { ...environment, PROMPTSYNC_BASE_URL: url, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { point } = await examine(folder, [], { environment: variables });
    expect(point('response').found).not.toContain('certificate');
    expect(point('TLS')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('not checked'),
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });

  test('doctor warns about plain http to a remote host', async () => {
    const { folder, environment } = await makeSetup(`service: { allow_http: true }\n${ENVIRONMENTS}`);
    const { point } = await examine(folder, [], {
      environment: { ...environment, PROMPTSYNC_BASE_URL: 'http://prompts.invalid', http_proxy: 'http://127.0.0.1:1' },
    });
    expect(point('TLS')).toMatchObject({ level: 'warning', found: expect.stringContaining('read the key') });
  });

  test("doctor names the proxy that refuses the connection, but hides the proxy's password", async () => {
    const { folder, environment } = await makeSetup();
    const proxy = createServer().on('connect', (_, socket) => void socket.end('HTTP/1.1 403 No\r\n\r\n'));
    const { port } = await listenUntilTestEnd(proxy);
    const { point, named, stdout } = await examine(folder, [], {
      environment: {
        ...environment,
        PROMPTSYNC_BASE_URL: 'https://prompts.invalid',
        HTTPS_PROXY: `http://user:hunter2@127.0.0.1:${port}`,
      },
    });
    expect(point('proxy')).toMatchObject({ level: 'ok', found: `127.0.0.1:${port} (from HTTPS_PROXY)` });
    expect(named('error')).toEqual(['response']);
    expect(point('response').found).toContain('the proxy rejected the tunnel');
    expect(point('TLS').level).toBe('warning');
    expect(stdout).not.toContain('hunter2');
  });

  test('doctor reports a proxy setting that is not a valid URL', async () => {
    const { folder, environment } = await makeSetup();
    const { point } = await examine(folder, [], {
      environment: { ...environment, PROMPTSYNC_BASE_URL: 'https://prompts.invalid', https_proxy: 'http://:99999' },
    });
    expect(point('proxy')).toMatchObject({ level: 'error', found: expect.stringContaining('https_proxy') });
  });

  test('doctor checks the Langfuse key even if the workspace has no prompt files', async () => {
    const { environment } = await startLangfuse();
    const folder = makeWorkspace({ 'promptsync.yaml': `service: { provider: langfuse }\n${CONFIG}` });
    const { point } = await examine(folder, [], { environment });
    expect(point('key').level).toBe('ok');
    const wrong = { ...environment, LANGFUSE_SECRET_KEY: 'sk-lf-wrong-0123456789' };
    const { point: wrongPoint } = await examine(folder, [], { environment: wrong });
    expect(wrongPoint('key')).toMatchObject({ level: 'error', found: expect.stringContaining('401') });
  });

  test("doctor reports an error if it cannot open the embedded service's SQLite file", async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, `service: { embedded: a.db }\n${CONFIG}`));
    writeFiles(folder, { 'a.db': 'no database' });
    chmodSync(join(folder, 'a.db'), 0o600);
    const { named, point } = await examine(folder, []);
    expect(named('error')).toEqual(['address']);
    expect(point('address').hint).toContain('service.embedded');
  });
});
