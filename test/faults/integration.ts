import { computeContentDigest, VERSION_RECORD_KEY } from '../../src/domain/content.ts';
import { startServer } from '../../src/embedded/server.ts';
import { openStore, type Store, type StoredVersion } from '../../src/embedded/prompt-store.ts';
import { CreateVersionShape, servicePaths, SetActiveShape } from '../../src/providers/four-call/api-shapes.ts';
import type { FrontRequest } from '../support/front.ts';
import { KEY } from '../support/service.ts';
import { MAIN, type Call, type Kept, type KeptVersion, type Service } from './calls.ts';

const ENVIRONMENTS = ['staging', 'production', 'promptsync', 'promptsync-look'];

/** The four-call service, with the embedded service as its double. */
export const integration: Service = {
  name: 'the four calls',
  settings: '',
  environment: (baseUrl) => ({ PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: KEY }),
  secrets: [KEY],
  hasFields: true,
  promptType: 'text',
  asked: (request) => ({
    promptId: decodeURIComponent(/\/prompts\/([^/?]+)/.exec(request.path)?.[1] ?? ''),
    call: nameOf(request),
  }),
  draftOf: ({ body }) => {
    const { content: text, metadata_: metadata = {} } = CreateVersionShape.parse(body);
    return { text, metadata };
  },
  madeIn: ({ body }) => (JSON.parse(body) as StoredVersion).id,
  reads: [servicePaths.prompt(MAIN), ...ENVIRONMENTS.map((name) => `${servicePaths.prompt(MAIN)}?environment=${name}`)],
  pretended: async ({ method, path, body }, peek) => {
    if (path.endsWith('/set-active')) return '{"updated":true}';
    if (method === 'PATCH') return (await peek(path)).body;
    const version = { id: 'ver_phantom', prompt_id: MAIN, version_number: 99 };
    return JSON.stringify({ ...version, ...Object(body), change_summary: undefined });
  },
  faults: [
    { name: 'updated: false', on: ['set'], act: ({ response }) => response.end('{"updated":false}'), lasts: true },
  ],
  limits: ['a create that lands after the next run has begun', "a lost create followed by somebody else's create"],
  open: () => openKept([]),
};

function nameOf({ method, path, body }: FrontRequest): Call {
  if (method === 'GET') {
    const environment = new URLSearchParams(path.split('?')[1] ?? '').get('environment');
    return environment === null ? 'read' : `read ${environment}`;
  }
  if (method === 'PATCH') return 'update';
  if (path.endsWith('/versions')) return 'create';
  return `set ${SetActiveShape.parse(body).environment}`;
}

/** A write to a store that can be repeated on another store. */
type Write = (store: Store) => unknown;

/** Opens a store with these writes. The same writes give the same ids. */
async function openKept(writes: readonly Write[]): Promise<Kept> {
  let count = 0;
  const plain = openStore(':memory:', { now: () => Date.UTC(2026, 0, 2), newId: () => `ver_${++count}` });
  const versions: StoredVersion[] = [];
  const written: Write[] = [];
  const record = <Answer>(write: (store: Store) => Answer): Answer => {
    written.push(write);
    return write(plain);
  };
  const store: Store = {
    ...plain,
    createVersion: (promptId, draft) => {
      const made = record((other) => other.createVersion(promptId, draft));
      if (made !== null) versions.push(made);
      return made;
    },
    updatePrompt: (promptId, changes) => record((other) => other.updatePrompt(promptId, changes)),
    setActive: (promptId, activation) => record((other) => other.setActive(promptId, activation)),
  };
  store.authorizeKey({ apiKey: KEY, projectId: 'project' });
  for (const name of ['main', 'other']) {
    store.registerPrompt({ id: `prm_${name}`, projectId: 'project', key: name, name });
  }
  for (const write of writes) write(store);
  const server = await startServer({ store, port: 0 });
  return {
    baseUrl: server.baseUrl,
    versions: () => versions.map(toKept),
    active: (promptId, environment) => {
      const version = store.readPrompt(promptId, environment)?.active_version ?? null;
      return version && toKept(version);
    },
    fields: (promptId) => {
      const { key = '', name = '', description = null } = store.readPrompt(promptId) ?? {};
      return { key, name, description };
    },
    add: (content, environment) => {
      const made = store.createVersion(MAIN, { content });
      if (environment !== undefined) store.setActive(MAIN, { environment, versionId: made?.id ?? '' });
    },
    overlaps: () => 0,
    copy: () => {
      const then = [...written];
      return () => openKept(then);
    },
    close: async () => {
      await server.close();
      store.close();
    },
  };
}

function toKept({ id, prompt_id: promptId, content: text, metadata_ }: StoredVersion): KeptVersion {
  const metadata = metadata_ ?? {};
  return { promptId, id, text, metadata, digest: computeContentDigest(text), own: VERSION_RECORD_KEY in metadata };
}
