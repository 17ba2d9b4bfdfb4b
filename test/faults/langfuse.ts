import { z } from 'zod';
import type { PromptType } from '../../src/domain/chat.ts';
import { isJsonObject } from '../../src/domain/json.ts';
import { digestVersion } from '../../src/providers/langfuse/version.ts';
import { findText, makeEditedPrompt } from '../doubles/langfuse-messages.ts';
import { MessageShape } from '../doubles/langfuse-requests.ts';
import { openLangfuse, PUBLIC_KEY, SECRET_KEY } from '../doubles/langfuse-server.ts';
import type { LangfuseVersion } from '../doubles/langfuse-store.ts';
import type { FrontRequest } from '../support/front.ts';
import { MAIN, OTHER, type Call, type Kept, type KeptVersion, type Service } from './calls.ts';
import { answer, status, type Act } from './faults.ts';

const PROMPTS = '/api/public/v2/prompts';

/** The query parameters that select a version. */
const WHICH = ['label=staging', 'label=production', 'version=1', 'version=2', 'version=3', 'version=4'];

/** Langfuse with text prompts. */
export const langfuse: Service = makeLangfuse('Langfuse', 'text');

/** Langfuse with chat prompts. */
export const langfuseChat: Service = makeLangfuse('Langfuse with chat prompts', 'chat');

/** Makes the calls of Langfuse. They are the same for both types of prompts. */
function makeLangfuse(name: string, promptType: PromptType): Service {
  return {
    name,
    settings: 'service: { provider: langfuse }\n',
    environment: (baseUrl) => ({
      ...{ LANGFUSE_HOST: baseUrl, LANGFUSE_PUBLIC_KEY: PUBLIC_KEY, LANGFUSE_SECRET_KEY: SECRET_KEY },
    }),
    secrets: [SECRET_KEY, Buffer.from(`${PUBLIC_KEY}:${SECRET_KEY}`).toString('base64')],
    hasFields: false,
    promptType,
    asked: (request) => ({ promptId: promptOf(request), call: nameOf(request) }),
    draftOf: ({ body }) => {
      const { prompt, config } = SentShape.parse(body);
      return { text: readText(prompt), metadata: isJsonObject(config) ? config : {} };
    },
    madeIn: ({ body, status: code }) => (code === 201 ? toKept(JSON.parse(body) as LangfuseVersion).id : ''),
    reads: [
      `${PROMPTS}?page=1&limit=100&name=${MAIN}`,
      ...WHICH.map((which) => `${PROMPTS}/${MAIN}?${which}&resolve=false`),
    ],
    pretended: async ({ method, path, body }, peek) => {
      if (method === 'PATCH') return (await peek(path.replace('/versions/', '?version='))).body;
      return JSON.stringify({ id: 'phantom', version: 99, ...Object(body) });
    },
    faults: [
      { name: '400, not done', on: ['create', 'set'], act: status(400) },
      {
        name: 'done, and a label that moves stays behind',
        on: ['create', 'set'],
        act: stayBehind,
        heals: ['create', 'set'],
      },
    ],
    limits: ['a create that lands after the next run has begun'],
    open: () => openKept(promptType, []),
  };
}

const PromptShape = z.union([z.string(), z.array(MessageShape)]);
const SentShape = z.object({
  ...{ name: z.string(), prompt: PromptShape, config: z.json().optional(), labels: z.array(z.string()) },
  newLabels: z.array(z.string()).optional(),
});

const LabelsShape = z.object({ newLabels: z.array(z.string()) });

function promptOf({ path, body }: FrontRequest): string {
  const url = new URL(path, 'http://langfuse');
  const named = decodeURIComponent(url.pathname.slice(PROMPTS.length + 1).split('/')[0] ?? '');
  return named || (url.searchParams.get('name') ?? SentShape.parse(body).name);
}

function nameOf({ method, path, body }: FrontRequest): Call {
  if (method === 'POST') return 'create';
  if (method === 'PATCH') return `set ${LabelsShape.parse(body).newLabels.join(' ')}`;
  const query = new URL(path, 'http://langfuse').searchParams;
  const version = query.get('version');
  return `read ${query.get('label') ?? (version === null ? 'list' : `v${version}`)}`;
}

/** Handles a write, but leaves the label on its old version as well, as a concurrent move of the label does. */
async function stayBehind(exchange: Parameters<Act>[0]): Promise<void> {
  const { kept, request } = exchange;
  const { labels, newLabels } = SentShape.partial().parse(request.body);
  const moved = labels ?? newLabels ?? [];
  const before = moved.map((label) => [kept.active(MAIN, label), label] as const);
  await answer({
    ...exchange,
    commit: async () => {
      const answered = await exchange.commit();
      for (const [version, label] of before) if (version !== null) kept.leave?.(Number.parseInt(version.id, 10), label);
      return answered;
    },
  });
}

/** Returns the text that a prompt stands for. If there is none, returns the prompt as JSON, which no test expects. */
function readText(prompt: LangfuseVersion['prompt']): string {
  return findText(prompt) ?? JSON.stringify(prompt);
}

/** Opens a store with these rows. The same rows give the same numbers. */
async function openKept(promptType: PromptType, rows: readonly LangfuseVersion[]): Promise<Kept> {
  const { baseUrl, store, close } = await openLangfuse();
  for (const { name, version, prompt, config, labels, commitMessage } of rows) {
    const edited = typeof prompt === 'string' ? { text: prompt } : { messages: prompt };
    store.addVersion(name, { ...edited, config, ...(commitMessage !== null && { message: commitMessage }) });
    for (const label of labels) store.addLabel(name, version, label);
  }
  const all = () => [MAIN, OTHER].flatMap((name) => store.versions(name));
  return {
    ...{ baseUrl, close, overlaps: store.overlaps },
    versions: () => all().map(toKept),
    active: (promptId, label) => {
      const row = store.versions(promptId).find(({ labels }) => labels.includes(label));
      return row === undefined ? null : toKept(row);
    },
    fields: () => null,
    add: (text, label) => {
      const labels = label === undefined ? [] : [label];
      store.addVersion(MAIN, { ...makeEditedPrompt(promptType, text), labels });
    },
    leave: (version, label) => store.addLabel(MAIN, version, label),
    copy: () => {
      const then = all();
      return () => openKept(promptType, then);
    },
  };
}

/** Converts a row. `own` is always true, because Langfuse does not show who created a version. */
function toKept({ name: promptId, version: number, prompt, config, ...rest }: LangfuseVersion): KeptVersion {
  const { id, digest } = digestVersion({ ...rest, number, prompt, config, message: rest.commitMessage, times: null });
  return { promptId, id, text: readText(prompt), digest, metadata: isJsonObject(config) ? config : {}, own: true };
}
