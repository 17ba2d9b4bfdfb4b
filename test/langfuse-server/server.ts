import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { renderCanonicalJson } from '../../src/domain/json.ts';
import { digestVersion } from '../../src/providers/langfuse/version.ts';
import { MessageShape } from '../doubles/langfuse-requests.ts';
import { openLangfuse, PUBLIC_KEY, SECRET_KEY } from '../doubles/langfuse-server.ts';
import { handOn } from '../support/front.ts';

/** A version as the server shows it. `id` is the id that promptsync gives it in reports. */
export type ServerVersion = {
  readonly number: number;
  readonly id: string;
  /** The text of a text prompt, or the canonical JSON of the messages of a chat prompt. */
  readonly text: string;
  readonly config: unknown;
  readonly labels: readonly string[];
};

/** The Langfuse that this suite runs against: a real server, or the double. All access goes through the public API. */
export type LangfuseServer = {
  readonly baseUrl: string;
  readonly keys: { readonly publicKey: string; readonly secretKey: string };
  /** Returns a new name below the folder of this suite. No other test uses it. */
  readonly newName: () => string;
  /** Returns all versions of a prompt, oldest first. */
  readonly versions: (name: string) => Promise<readonly ServerVersion[]>;
  /** Creates a version without promptsync. */
  readonly create: (name: string, prompt: object | string, labels: readonly string[]) => Promise<void>;
  /** Deletes all prompts of this suite. Throws if one of them remains. */
  readonly close: () => Promise<void>;
};

/** Opens the server that `npm run test:langfuse` names. Without it, starts the double. */
export async function openLangfuseServer(): Promise<LangfuseServer> {
  const { TEST_LANGFUSE_URL: url, LANGFUSE_PUBLIC_KEY = '', LANGFUSE_SECRET_KEY = '' } = process.env;
  if (url !== undefined) {
    const keys = { publicKey: LANGFUSE_PUBLIC_KEY, secretKey: LANGFUSE_SECRET_KEY };
    return useServer(url.replace(/\/+$/, ''), keys, async () => {});
  }
  const double = await openLangfuse();
  return useServer(double.baseUrl, { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY }, double.close);
}

const PROMPTS = '/api/public/v2/prompts';

const ListingShape = z.object({
  data: z.array(z.object({ name: z.string(), versions: z.array(z.number()) })),
  meta: z.object({ totalPages: z.number() }),
});

const VersionShape = z.object({
  version: z.number(),
  prompt: z.union([z.string(), z.array(MessageShape)]),
  config: z.json(),
  labels: z.array(z.string()),
});

function useServer(baseUrl: string, keys: LangfuseServer['keys'], stop: () => Promise<void>): LangfuseServer {
  const folder = `promptsync-test-${randomBytes(4).toString('hex')}`;
  const key = `Basic ${Buffer.from(`${keys.publicKey}:${keys.secretKey}`).toString('base64')}`;
  let names = 0;

  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await handOn({ method, path: PROMPTS + path, key, body }, baseUrl);
    if (answer.status >= 300) throw new Error(`${method} ${path}: status ${answer.status}, ${answer.body}`);
    return answer.body === '' ? null : JSON.parse(answer.body);
  };

  const readVersion = async (name: string, number: number): Promise<ServerVersion> => {
    const answer = await call('GET', `/${encodeURIComponent(name)}?version=${number}&resolve=false`);
    const { prompt, config, labels } = VersionShape.parse(answer);
    const raw = { number, prompt, config, labels, message: null, times: null, createdBy: null, projectId: null };
    const text = typeof prompt === 'string' ? prompt : renderCanonicalJson(prompt);
    return { number, id: digestVersion(raw).id, text, config, labels };
  };

  const listNames = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { data, meta } = ListingShape.parse(await call('GET', `?limit=100&page=${page}`));
      found.push(...data.map(({ name }) => name).filter((name) => name.startsWith(`${folder}/`)));
      pages = meta.totalPages;
    }
    return found;
  };

  /** Langfuse refuses to delete a part while a composed prompt uses it, so a second round deletes what remained. */
  const deletePrompts = async (): Promise<void> => {
    for (let round = 1; round <= 2; round += 1) {
      for (const name of await listNames()) await call('DELETE', `/${encodeURIComponent(name)}`).catch(() => null);
    }
    const left = await listNames();
    if (left.length > 0) throw new Error(`These prompts of the test could not be deleted: ${left.join(', ')}`);
  };

  return {
    ...{ baseUrl, keys },
    newName: () => `${folder}/prompt-${(names += 1)}`,
    versions: async (name) => {
      const { data } = ListingShape.parse(await call('GET', `?limit=100&name=${encodeURIComponent(name)}`));
      const numbers = data.flatMap(({ versions }) => versions).toSorted((a, b) => a - b);
      return Promise.all(numbers.map((number) => readVersion(name, number)));
    },
    create: async (name, prompt, labels) => {
      const type = typeof prompt === 'string' ? 'text' : 'chat';
      await call('POST', '', { name, type, prompt, labels });
    },
    close: async () => {
      await deletePrompts();
      await stop();
    },
  };
}
