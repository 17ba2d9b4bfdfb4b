/**
 * How long the bundled action takes from its start to its first request to the service, beside an empty `node` in the
 * same run: on a pull request, in a whole clone with ten prompts. Run with `npm run bench`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { compare } from './rounds.ts';
import { makeWorkspace } from './workspace.ts';

const action = join(import.meta.dirname, '../dist/action/index.cjs');
const workspace = makeWorkspace(10);
const variables = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const git = (...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...words], {
    ...{ cwd: workspace, env: variables, encoding: 'utf8' },
  }).trim();

git('init', '--quiet', '--initial-branch', 'main');
git('add', '--all');
git('commit', '--quiet', '--message', 'Base');
const base = git('rev-parse', 'HEAD');
writeFileSync(join(workspace, 'prompts', 'note.txt'), 'Change');
git('add', '--all');
git('commit', '--quiet', '--message', 'Head');
const head = git('rev-parse', 'HEAD');

const arrivals = { first: Number.NaN };
const server = createServer((_, response) => {
  if (Number.isNaN(arrivals.first)) arrivals.first = performance.now();
  response.writeHead(403).end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const environment = { ...variables, ...runner(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };

await compare('the action, from its start to its first request', 21, {
  'node -e 0': () => {
    const started = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - started;
  },
  'action, plan on a pull request': async () => {
    arrivals.first = Number.NaN;
    const started = performance.now();
    const child = spawn(process.execPath, [action], { cwd: workspace, env: environment, stdio: 'ignore' });
    await once(child, 'close');
    return arrivals.first - started;
  },
});
server.close();
rmSync(workspace, { recursive: true });

/** The variables of a runner; nothing is told to GitHub. */
function runner(baseUrl: string): Readonly<Record<string, string>> {
  const repository = { full_name: 'acme/prompts', default_branch: 'main' };
  const pull = { number: 1, head: { sha: head, repo: repository }, base: { sha: base, ref: 'main', repo: repository } };
  const event = join(workspace, 'event.json');
  writeFileSync(event, JSON.stringify({ pull_request: pull, repository }));
  const files = { GITHUB_OUTPUT: join(workspace, 'output'), GITHUB_STEP_SUMMARY: join(workspace, 'summary') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  return {
    ...{
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: event,
      GITHUB_REF: 'refs/pull/1/merge',
    },
    ...{ 'INPUT_BASE-URL': baseUrl, 'INPUT_API-KEY': 'sk-bench-0123456789', GITHUB_WORKSPACE: workspace, ...files },
  };
}
