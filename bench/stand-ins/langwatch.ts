import type { Answer, Service } from './service.ts';

// As much of LangWatch's service as `langwatch prompt sync` (0.16.1) asks for local prompts: one POST for each, which
// compares the configuration that was sent with the newest version and makes another where they differ.

type Stored = { readonly version: number; readonly config: string; readonly configData: unknown };

const SYNC = /^\/api\/prompts\/([^/]+)\/sync$/;

export function langWatchService(): Service {
  const prompts = new Map<string, Stored>();
  return {
    stock: ({ empty = false }) => {
      if (empty) prompts.clear();
    },
    answer: (method, path, body, headers) => {
      if (headers['x-auth-token'] === undefined) return json(401, { error: 'Unauthorized' });
      const handle = decodeURIComponent(SYNC.exec(path)?.[1] ?? '');
      if (method !== 'POST' || handle === '') return json(404, { error: 'Not found' });
      const { configData } = JSON.parse(body);
      const config = JSON.stringify(configData);
      const known = prompts.get(handle);
      if (known?.config === config) return json(200, { action: 'up_to_date', prompt: promptOf(handle, known) });
      const stored = { version: (known?.version ?? 0) + 1, config, configData };
      prompts.set(handle, stored);
      return json(200, { action: known === undefined ? 'created' : 'updated', prompt: promptOf(handle, stored) });
    },
  };
}

function promptOf(handle: string, { version, configData }: Stored) {
  const ids = { id: `prompt_${handle}`, handle, name: handle, versionId: `version_${handle}_${version}` };
  return { ...ids, version, scope: 'PROJECT', updatedAt: '2026-01-02T03:04:05.678Z', ...(configData as object) };
}

function json(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) };
}
