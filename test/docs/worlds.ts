import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { expect } from 'vitest';
import { SECRET_KEY, startLangfuse } from '../doubles/langfuse-server.ts';
import { changeService, KEY, startTestService, type TestService } from '../support/service.ts';
import { childEnvironment } from '../support/cli.ts';
import { commitAll, git, initRepository, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { run } from '../support/run.ts';
import { makeCommands, type Program } from './command-server.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** The folder, the service and the variables with which the blocks of a page run. */
export type World = {
  readonly folder: string;
  readonly baseUrl: string;
  /** The key of the service. No output may contain it. */
  readonly key: string;
  readonly environment: NodeJS.ProcessEnv;
};

const PROMPTS = [
  { name: 'greeting', key: 'support/greeting', title: 'Support greeting', text: 'Greet {{customer_name}} by name.' },
  { name: 'refund', key: 'support/refund', title: 'Refund decision', text: 'Decide whether the refund is granted.' },
  { name: 'summary', key: 'summary', title: 'Conversation summary', text: 'Summarize the conversation.' },
] as const;

/** The worlds that a page can name. */
export const WORLDS: Readonly<Record<string, () => Promise<World>>> = {
  clone: async () => makeSystem(copyOfThis(), await startPrompts()),
  empty: makeEmpty,
  langfuse: makeLangfuse,
  team: makeTeam,
};

/** Copies the current sources to a repository with one commit, and links the installed packages. */
export function copyOfThis(): string {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const folder = makeFolder();
  for (const path of listed
    .toString()
    .split('\0')
    .filter((one) => one !== '' && !/^(dist\/|node_modules\b)/.test(one))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  initRepository(folder);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'All');
  return folder;
}

/** Makes an empty repository, and a service in which production is one version behind staging. */
async function makeEmpty(): Promise<World> {
  const service = await startPrompts();
  for (const { name, text } of PROMPTS) {
    await changeService(service.baseUrl, name, 'production', `${text} Be short.`);
    await changeService(service.baseUrl, name, 'staging', text);
  }
  const folder = makeFolder();
  initRepository(folder);
  return makeSystem(withOrigin(folder), service);
}

/** Makes a synced repository. The newest text of the greeting is in staging but not yet in production. */
async function makeTeam(): Promise<World> {
  const service = await startPrompts();
  const folder = withOrigin(makeRepository({ 'promptsync.yaml': configFor(service), ...filesOf('staging: latest') }));
  const environment = { PROMPTSYNC_API_KEY: KEY };
  await pushAndSync(folder, environment);
  const files = filesOf('staging: latest\n  production: 1');
  writeFiles(folder, files);
  commitAll(folder, 'First prompts go live');
  await pushAndSync(folder, environment);
  const path = 'prompts/support/greeting.md';
  writeFiles(folder, { [path]: files[path]!.replace('by name.', 'by name, in one friendly sentence.') });
  commitAll(folder, 'Greet in one friendly sentence (#12)');
  await pushAndSync(folder, environment);
  return makeSystem(folder, service, environment);
}

/** Makes a synced repository of a Langfuse project with a text prompt and a chat prompt. */
async function makeLangfuse(): Promise<World> {
  const { baseUrl, environment } = await startLangfuse();
  const config = `service: { provider: langfuse }\n\n${ENVIRONMENTS}`;
  const folder = withOrigin(makeRepository({ 'promptsync.yaml': config, ...langfuseFilesOf('staging: latest') }));
  await pushAndSync(folder, environment);
  writeFiles(folder, langfuseFilesOf('staging: latest\n  production: 1'));
  commitAll(folder, 'First prompts go live');
  await pushAndSync(folder, environment);
  return makeSystem(folder, { baseUrl, key: SECRET_KEY }, environment);
}

async function pushAndSync(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  git(folder, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  expect(await run(folder, ['sync', '--yes', '--quiet'], { environment })).toMatchObject({ exitCode: 0 });
}

async function startPrompts(): Promise<TestService & Pick<World, 'key'>> {
  const service = await startTestService([]);
  for (const { name, key, title } of PROMPTS) {
    service.store.registerPrompt({ id: `prm_${name}`, projectId: 'project', key, name: title });
  }
  return { ...service, key: KEY };
}

function configFor({ baseUrl }: TestService): string {
  return `service:
  base_url: ${baseUrl}

${ENVIRONMENTS}`;
}

const ENVIRONMENTS = `prompts: ['prompts/**/*.md']

environments: # in promotion order
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

function filesOf(pins: string): Record<string, string> {
  return Object.fromEntries(
    PROMPTS.map(({ name, key, title, text }) => [
      `prompts/${key}.md`,
      `---\nid: prm_${name}\nkey: ${key}\nname: ${title}\npins:\n  ${pins}\n---\n\n${text}\n`,
    ]),
  );
}

function langfuseFilesOf(pins: string): Record<string, string> {
  const system = 'Choose the team that helps {{customer_name}}: billing or support.';
  const messages = `{{role "system"}}\n${system}\n\n{{role "user"}}\n{{question}}`;
  return {
    'prompts/support/greeting.md': `---\nid: support/greeting\npins:\n  ${pins}\n---\n\n${PROMPTS[0].text}\n`,
    'prompts/support/triage.md': `---\nid: support/triage\ntype: chat\npins:\n  ${pins}\n---\n\n${messages}\n`,
  };
}

/** Adds a bare repository as the remote `origin`. */
function withOrigin(folder: string): string {
  const bare = makeFolder();
  git(bare, 'init', '--quiet', '--bare', '--initial-branch', 'main');
  git(folder, 'remote', 'add', 'origin', bare);
  return folder;
}

async function makeSystem(
  folder: string,
  { baseUrl, key }: Pick<World, 'baseUrl' | 'key'>,
  more: Readonly<Record<string, string>> = {},
): Promise<World> {
  const programs = await makePrograms(baseUrl);
  // A reader answers the question of `sync` with yes. Here, `CI` does.
  const variables = childEnvironment({ HOME: makeFolder(), CI: 'true', ...more });
  const PATH = [programs, dirname(process.execPath), variables['PATH']].join(delimiter);
  return { folder, baseUrl, key, environment: { ...variables, PATH } };
}

/**
 * Makes the programs that pages run: `promptsync` and a stand-in for `promptfoo`, both by `npx --no-install` as well.
 * Makes `change-service PROMPT ENVIRONMENT TEXT` and `change-langfuse PROMPT LABEL MESSAGES` for hidden setup commands.
 */
async function makePrograms(baseUrl: string): Promise<string> {
  const folder = await makeCommands({
    'change-service': ([prompt = '', environment = '', text = '']) => changeService(baseUrl, prompt, environment, text),
    'change-langfuse': changeLangfuse,
  });
  const programs = {
    promptfoo: `exec "${process.execPath}" "${join(import.meta.dirname, 'promptfoo.ts')}" "$@"`,
    // Without the flag, npx would download a package of that name if nothing is installed.
    npx: `case "$1 $2" in
"--no-install promptsync" | "--no-install promptfoo") shift; exec "$@" ;;
*) echo "npx: only --no-install promptsync or promptfoo" >&2; exit 127 ;;
esac`,
  };
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Creates a version of a chat prompt in Langfuse without promptsync. The messages are JSON. */
const changeLangfuse: Program = async ([name, label, messages = ''], variables) => {
  const { LANGFUSE_HOST, LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY } = variables;
  const keys = Buffer.from(`${LANGFUSE_PUBLIC_KEY}:${LANGFUSE_SECRET_KEY}`).toString('base64');
  const answer = await fetch(`${LANGFUSE_HOST}/api/public/v2/prompts`, {
    method: 'POST',
    headers: { authorization: `Basic ${keys}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, type: 'chat', labels: [label], prompt: JSON.parse(messages) }),
  });
  if (!answer.ok) throw new Error(`Langfuse answered ${answer.status}`);
};
