import type { Answer, Service } from './service.ts';

// This file implements the part of LangWatch's service that `langwatch prompt sync` (0.16.1) uses for local prompts.
// The program sends one POST for each prompt. The service compares the configuration in the request with the newest
// version, and creates a version if they differ.

type StoredPrompt = { readonly version: number; readonly config: string; readonly configData: unknown };

const SYNC = /^\/api\/prompts\/([^/]+)\/sync$/;

export function makeLangWatchService(): Service {
  const prompts = new Map<string, StoredPrompt>();
  return {
    stock: () => prompts.clear(),
    answer: (method, path, body, headers) => {
      if (headers['x-auth-token'] === undefined) return makeResponse(401, { error: 'Unauthorized' });
      const handle = decodeURIComponent(SYNC.exec(path)?.[1] ?? '');
      if (method !== 'POST' || handle === '') return makeResponse(404, { error: 'Not found' });
      const { configData } = JSON.parse(body);
      const config = JSON.stringify(configData);
      const newest = prompts.get(handle);
      if (newest?.config === config)
        return makeResponse(200, { action: 'up_to_date', prompt: renderPrompt(handle, newest) });
      const stored = { version: (newest?.version ?? 0) + 1, config, configData };
      prompts.set(handle, stored);
      return makeResponse(200, {
        action: newest === undefined ? 'created' : 'updated',
        prompt: renderPrompt(handle, stored),
      });
    },
  };
}

function renderPrompt(handle: string, { version, configData }: StoredPrompt) {
  const ids = { id: `prompt_${handle}`, handle, name: handle, versionId: `version_${handle}_${version}` };
  return { ...ids, version, scope: 'PROJECT', updatedAt: '2026-01-02T03:04:05.678Z', ...(configData as object) };
}

function makeResponse(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) };
}
