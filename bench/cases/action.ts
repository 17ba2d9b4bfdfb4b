import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Bench } from '../core/bench.ts';
import type { Group } from '../core/case.ts';
import type { Sample } from '../core/measure.ts';
import { runNode } from '../core/measure.ts';
import { git, GIT_ENVIRONMENT } from '../core/repository.ts';
import { API_KEY } from '../core/prompts.ts';

const ACTION = join(import.meta.dirname, '../../dist/action/index.cjs');

type RefusingService = {
  readonly baseUrl: string;
  /** The time of the first request, from `performance.now()`; null before the first request. */
  firstRequest: number | null;
};

/** Starts a service that refuses every request and records the time of the first one. */
async function startRefusingService(bench: Bench): Promise<RefusingService> {
  const service = { baseUrl: '', firstRequest: null as number | null };
  const server = createServer((_, response) => {
    service.firstRequest ??= performance.now();
    response.writeHead(403).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  bench.atEnd(() => server.close());
  const address = server.address();
  service.baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return service;
}

/** Measures the time from the start of the action to its first request. */
async function measureFirstRequest(folder: string, env: NodeJS.ProcessEnv, service: RefusingService): Promise<Sample> {
  service.firstRequest = null;
  const started = performance.now();
  const child = spawn(process.execPath, [ACTION], { cwd: folder, env, stdio: 'ignore' });
  await once(child, 'close');
  return { milliseconds: (service.firstRequest ?? Number.NaN) - started };
}

/**
 * Returns the environment variables of a runner for a pull request. They contain no token, so the action does not
 * contact GitHub.
 * @param files the folder for the event and the outputs of the action
 */
function makeRunnerEnvironment(folder: string, files: string, baseUrl: string): NodeJS.ProcessEnv {
  const repository = { full_name: 'acme/prompts', default_branch: 'main' };
  const [base, head] = [git(folder, 'rev-parse', 'HEAD~1'), git(folder, 'rev-parse', 'HEAD')];
  const sides = {
    head: { sha: head, repo: repository },
    base: { sha: base, ref: 'main', repo: repository },
  };
  const event = join(files, 'event.json');
  writeFileSync(event, JSON.stringify({ pull_request: { number: 1, ...sides }, repository }));
  const outputs = { GITHUB_OUTPUT: join(files, 'output'), GITHUB_STEP_SUMMARY: join(files, 'summary') };
  for (const file of Object.values(outputs)) writeFileSync(file, '');
  const github = { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: event };
  const inputs = { 'INPUT_BASE-URL': baseUrl, 'INPUT_API-KEY': API_KEY, GITHUB_WORKSPACE: folder };
  const path = { PATH: process.env['PATH'] };
  return { ...path, ...GIT_ENVIRONMENT, ...github, GITHUB_REF: 'refs/pull/1/merge', ...inputs, ...outputs };
}

export const action: Group = {
  name: 'action',
  about: 'the committed bundle of the action on a pull request, in a full clone with ten prompts',
  cases: [
    {
      title: 'from its start to its first request',
      rounds: 11,
      prepare: async (bench) => {
        const folder = bench.repository(10);
        const service = await startRefusingService(bench);
        const env = makeRunnerEnvironment(folder, bench.folder(), service.baseUrl);
        return {
          'node -e 0': { run: () => runNode(['-e', '0']) },
          'action, plan on a pull request': { run: () => measureFirstRequest(folder, env, service) },
        };
      },
    },
  ],
};
