import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFront } from '../support/front.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam, type RunOptions } from './team.ts';

const HOME = { full_name: 'acme/prompts', default_branch: 'main' };
const changed = { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) };
const APPLIED = ['POST prm_greeting versions', 'set-active prm_greeting promptsync', 'set-active prm_greeting staging'];

type Row = {
  readonly name: string;
  readonly ref?: string;
  readonly event?: object;
  readonly options?: RunOptions;
  readonly reason?: string;
  readonly says: RegExp;
  readonly writes?: readonly string[];
};
const given = (inputs: Readonly<Record<string, string>>): Pick<Row, 'options'> => ({ options: { inputs } });
const PLANNED = /^Plan: 1 to create/m;
const DONE = /^Applied: 1 created/m;

test.each<[string, Row]>([
  ['A push to the default branch is applied', { name: 'push', says: DONE, writes: APPLIED }],
  ['A push to another branch is planned', { name: 'push', ref: 'refs/heads/other', says: PLANNED }],
  ['A dispatch looks for drift', { name: 'workflow_dispatch', says: /The service differs/, reason: 'drift' }],
  [
    'A dispatch that is told to applies',
    { name: 'workflow_dispatch', ...given({ mode: 'sync' }), says: DONE, writes: APPLIED },
  ],
  [
    'A merge queue is planned',
    { name: 'merge_group', ref: 'refs/heads/queue', event: { merge_group: { base_sha: 'BASE' } }, says: PLANNED },
  ],
  [
    'An event that it does not know is told',
    { name: 'issues', says: /The mode `auto` does nothing for this run/, reason: 'invalid' },
  ],
  [
    'An input that is none is told',
    {
      name: 'push',
      ...given({ comment: 'sometimes' }),
      says: /`comment` is not valid: expected al/,
      reason: 'invalid',
    },
  ],
  [
    'A folder that is not there is told',
    {
      name: 'push',
      ...given({ 'working-directory': 'nowhere' }),
      says: /there is no folder "nowhere"/,
      reason: 'invalid',
    },
  ],
  [
    'A workspace without a checkout is told',
    {
      ...{ name: 'push', options: { prepare: (workspace) => rmSync(join(workspace, '.git'), { recursive: true }) } },
      ...{ says: /Put a step with actions\/checkout/, reason: 'invalid' },
    },
  ],
  [
    'An event that cannot be read is told',
    {
      ...{ name: 'push', options: { environment: { GITHUB_EVENT_PATH: '/nowhere.json' } } },
      ...{ says: /The event of this run cannot be read/, reason: 'invalid' },
    },
  ],
  [
    'An event that is no JSON is told',
    {
      ...{ name: 'push', options: { environment: { GITHUB_EVENT_PATH: import.meta.filename } } },
      ...{ says: /The event of this run cannot be read/, reason: 'invalid' },
    },
  ],
])('%s', async (_, { name, ref = 'refs/heads/main', event = {}, options, reason = '', says, writes = [] }) => {
  const { service, github, pushMain, run } = await makeTeam({ greeting: {} });
  const base = pushMain({});
  const commit = pushMain(changed);
  const payload = JSON.parse(JSON.stringify({ repository: HOME, before: base, ...event }).replace('BASE', base));
  const ran = await run(name, payload, { ref, commit }, options);
  expect(ran.stdout).toMatch(says);
  expect(ran).toMatchObject({ exitCode: reason === '' ? 0 : 1, outputs: { 'failure-reason': reason } });
  expect(service.takeWrites()).toEqual(writes);
  expect(github.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('In a folder of the repository the example of this project is planned on its embedded service, without a key', async () => {
  const { push, openPull, runPull } = await makeTeam({ greeting: {} });
  const config = 'service:\n  embedded: .promptsync/service.db\nprompts: ["*.md"]\n';
  push('main', { 'sub/promptsync.yaml': config, 'sub/a.md': promptText('a') });
  push('change', { 'sub/a.md': '---\nid: prm_a\nkey: a\nname: A\npins: { staging: newest }\n---\nText\n' });
  const inputs = { 'working-directory': 'sub', 'base-url': '' };
  const invalid = await runPull(openPull('change'), { keyless: true, inputs });
  expect(invalid.stdout).toMatch(/^::error title=prompt\/invalid-pin,file=sub\/a\.md,line=5,col=\d+::/m);
  push('change', { 'sub/a.md': promptText('a', { text: 'Other' }) });
  const planned = await runPull(openPull('change'), { keyless: true, inputs });
  expect(planned).toMatchObject({ exitCode: 0, outputs: { changes: 'true' } });
  expect(planned.summary).toContain('service `embedded:.promptsync/service.db`');
});

test('A runner that takes neither outputs nor summary is told by notices; what was applied is applied', async () => {
  const { service, pushMain, runPush } = await makeTeam({ greeting: {} });
  const environment = { GITHUB_STEP_SUMMARY: '/nowhere/summary', RUNNER_TEMP: '/dev/null/temp' };
  const ran = await runPush(pushMain(changed), { environment });
  expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '', changes: 'true' } });
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::Writing the outputs failed/m);
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::Writing the summary failed/m);
  expect(service.takeWrites()).toEqual(APPLIED);
});

test('A run that is cancelled finishes the call in flight, tells how far it got, and writes no more', async () => {
  const names = [...Array(20).keys()].map(String);
  const { service, pushMain, runPush } = await makeTeam(Object.fromEntries(names.map((name) => [name, {}])));
  const started: { child?: ChildProcess; cancelled?: true } = {};
  const cancel = () => {
    if (started.cancelled === undefined) started.child?.kill('SIGINT');
    started.cancelled = true;
  };
  const { baseUrl } = await startFront({
    target: service.baseUrl,
    answer: ({ method }) => {
      if (method === 'POST') cancel();
      return null;
    },
  });
  const onOutput = (child: ChildProcess) => void (started.child = child);
  const ran = await runPush(pushMain({}), { inputs: { 'base-url': baseUrl }, onOutput });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'failed', changes: 'true' } });
  expect(ran.summary).toContain('Interrupted; the rest was not written.');
  expect(ran.summary).toContain('(not made)');
  const versions = service.takeWrites().filter((write) => write.endsWith(' versions'));
  expect(versions.length).toBeLessThan(names.length);
});
