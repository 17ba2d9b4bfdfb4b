import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from '../../src/embedded/server.ts';
import { openStore, type Store } from '../../src/embedded/prompt-store.ts';

/** A repository on the branch of a pull request, and the service that its main branch was synced to. */
export type Demo = {
  readonly folder: string;
  readonly baseUrl: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Adds a promotion to the branch. */
  readonly promote: () => void;
  /** Simulates a person who changes what production serves, directly in the service. */
  readonly editInService: () => void;
  readonly close: () => Promise<void>;
};

export const CLI = resolve(import.meta.dirname, '../../src/cli.ts');
const KEY = 'key-of-the-demonstration';

type Prompt = { readonly pins: string; readonly text: string };

const PROMPTS: Readonly<Record<string, Prompt>> = {
  'billing/invoice': { pins: 'staging: latest, production: 1', text: 'Explain the invoice {{invoice}} line by line.' },
  'sales/reminder': { pins: 'staging: latest, production: 1', text: 'Remind {{customer}} of the open invoice.' },
  'docs/answer': {
    pins: 'staging: latest, production: 1',
    text: 'Answer from the documentation below, or not at all.',
  },
  'docs/translate': { pins: 'staging: latest, production: 1', text: 'Translate to {{language}}. Keep the Markdown.' },
  'sales/outreach': { pins: 'staging: latest', text: 'Write a first message to {{lead}}.' },
  'sales/summary': { pins: 'staging: latest, production: 1', text: 'Summarize the call in five points.' },
  'support/escalation': { pins: 'staging: latest, production: 1', text: 'Decide who takes over:\n\n{{thread}}' },
  'checkout/greeting': {
    pins: 'staging: latest, production: 1',
    text: [
      'You are a support agent for {{shop}}.',
      'Greet {{customer_name}} by name, in one friendly sentence.',
      'Never promise a delivery date.',
    ].join('\n'),
  },
  'support/refund': {
    pins: 'staging: latest, production: 1',
    text: 'Decide whether the refund for this order is granted.\n\n{{order}}\n\nAnswer with `granted` or `refused`.',
  },
};

/** The service address that the pictures show. At run time, PROMPTSYNC_BASE_URL overrides it. */
export const ADDRESS = 'https://prompts.example.com';

const CONFIG = `service: { base_url: "${ADDRESS}" }
prompts: ["prompts/**/*.md"]
environments:
  staging: {}
  production: { promote_from: staging }
`;

/** Makes a repository with synced commits, and a branch with an edit. */
export async function makeDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'promptsync-demo-'));
  let ids = 0;
  const store = openStore(':memory:', {
    now: () => Date.UTC(2026, 10, 21),
    newId: () => `ver_${String((ids += 1)).padStart(4, '0')}`,
  });
  store.authorizeKey({ apiKey: KEY, projectId: 'demo' });
  for (const key of Object.keys(PROMPTS)) store.registerPrompt({ id: idOf(key), projectId: 'demo', key, name: key });
  const { baseUrl, close } = await startServer({ store, port: 0 });
  const end = async (): Promise<void> => {
    await close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const demo: Demo = {
    folder,
    baseUrl,
    environment: { ...process.env, ...VARIABLES, PROMPTSYNC_BASE_URL: baseUrl },
    promote: () => promoteRefunds(demo),
    editInService: () => simulateEditInService(store),
    close: end,
  };
  await writeMain(demo);
  writeBranch(demo);
  return demo;
}

const VARIABLES = {
  ...{ PROMPTSYNC_API_KEY: KEY, CI: '', GITHUB_ACTIONS: '', NO_COLOR: '' },
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_AUTHOR_DATE: '2026-11-20T10:00:00Z' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_COMMITTER_DATE: '2026-11-20T10:00:00Z' },
};

/**
 * Makes three commits on main and syncs each: the first prompts, their pins for production, and new texts for two
 * prompts.
 */
async function writeMain(demo: Demo): Promise<void> {
  git(demo, 'init', '--quiet', '--initial-branch', 'main');
  write(demo, 'promptsync.yaml', CONFIG);
  for (const [key, { text }] of Object.entries(PROMPTS)) writePrompt(demo, key, { text, pins: 'staging: latest' });
  await merge(demo, 'First prompts');
  for (const [key, prompt] of Object.entries(PROMPTS)) writePrompt(demo, key, prompt);
  await merge(demo, 'Go live');
  edit(demo, 'sales/reminder', 'open invoice.', 'open invoice {{invoice}}.');
  edit(demo, 'support/refund', 'this order is granted', 'this order is granted, by the rules of {{country}}');
  await merge(demo, 'Refunds by country');
}

async function merge(demo: Demo, message: string): Promise<void> {
  commit(demo, message);
  const { folder, environment } = demo;
  await promisify(execFile)(process.execPath, [CLI, 'sync', '--yes'], { cwd: folder, env: environment });
}

function simulateEditInService(store: Store): void {
  const promptId = idOf('support/escalation');
  const made = store.createVersion(promptId, { content: 'Always hand over to a human.' });
  if (made !== null) store.setActive(promptId, { environment: 'production', versionId: made.id });
}

/** Makes the branch of a pull request that edits one prompt. */
function writeBranch(demo: Demo): void {
  git(demo, 'switch', '--quiet', '--create', 'friendlier');
  edit(demo, 'checkout/greeting', 'in one friendly sentence.', 'in one friendly sentence, and ask how to help.');
  commit(demo, 'Ask how to help');
}

/** Commits a promotion of a prompt that already has a newer version in staging. */
function promoteRefunds(demo: Demo): void {
  edit(demo, 'support/refund', 'production: 1', 'production: 2');
  commit(demo, 'Refunds by country go live');
}

function git({ folder, environment }: Demo, ...words: readonly string[]): void {
  execFileSync('git', words, { cwd: folder, env: environment });
}

function commit(demo: Demo, message: string): void {
  git(demo, 'add', '--all');
  git(demo, 'commit', '--quiet', '--message', message);
}

function write({ folder }: Demo, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function edit(demo: Demo, key: string, before: string, after: string): void {
  const path = `prompts/${key}.md`;
  const text = readFileSync(join(demo.folder, path), 'utf8');
  if (!text.includes(before)) throw new Error(`${path} does not hold: ${before}`);
  write(demo, path, text.replace(before, after));
}

function writePrompt(demo: Demo, key: string, { pins, text }: Prompt): void {
  const fields = `id: ${idOf(key)}\nkey: ${key}\nname: ${key}\npins: { ${pins} }`;
  write(demo, `prompts/${key}.md`, `---\n${fields}\n---\n\n${text}\n`);
}

function idOf(key: string): string {
  return `prm_${key.replace('/', '_')}`;
}
