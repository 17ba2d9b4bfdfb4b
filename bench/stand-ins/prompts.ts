import { computeContentDigest, EMPTY_METADATA_DIGEST, VERSION_RECORD_KEY } from '../../src/domain/content.ts';
import { API_KEY, ENVIRONMENTS, fieldsOf, idOf, textOf, TRACKING } from '../core/prompts.ts';
import type { Answer, Stock, Service } from './service.ts';

// This file implements the four-call service (interface section 4) in memory. Responses are the same as those of
// the embedded service. The stand-in checks and stores less than the embedded service, so that the benchmark measures
// the client. For the same reason, the JSON of a version is made only once.

type Version = { readonly id: string; readonly json: string };

type Prompt = {
  readonly id: string;
  fields: Readonly<Record<string, unknown>>;
  readonly versions: Version[];
  readonly active: Map<string, Version>;
};

const PREFIX = '/v1/integration/prompts/';
const UPDATED: Answer = { status: 200, body: '{"updated":true}' };
const NOW = '2026-01-02T03:04:05.678Z';

export function makePromptService(): Service {
  const prompts = new Map<string, Prompt>();
  return {
    stock: (stock) => {
      prompts.clear();
      for (let index = 0; index < stock.count; index++) prompts.set(idOf(index), makePrompt(index, stock));
    },
    answer: (method, path, body, headers) => {
      if (headers['x-api-key'] !== API_KEY) return makeRefusal(401, 'The API key is missing or unknown.');
      if (!path.startsWith(PREFIX)) return makeRefusal(404, 'There is no such path.');
      const [target = '', query = ''] = path.slice(PREFIX.length).split('?');
      const [id = '', tail = ''] = target.split('/');
      const prompt = prompts.get(decodeURIComponent(id));
      if (prompt === undefined) return makeRefusal(404, 'There is no such prompt.');
      return handle(`${method} ${tail}`, prompt, query, body);
    },
  };
}

function handle(operation: string, prompt: Prompt, query: string, body: string): Answer {
  switch (operation) {
    case 'GET ':
      return readPrompt(prompt, query === '' ? null : new URLSearchParams(query).get('environment'));
    case 'PATCH ':
      prompt.fields = { ...prompt.fields, ...parseBody(body) };
      return { status: 200, body: `${renderOpenPrompt(prompt)},"created_at":"${NOW}"}` };
    case 'POST versions': {
      const { content, metadata_: metadata = null } = parseBody(body);
      if (typeof content !== 'string') return makeRefusal(422, 'body.content: Invalid input');
      return { status: 200, body: addVersion(prompt, content, metadata).json };
    }
    case 'POST set-active':
      return activateVersion(prompt, parseBody(body));
    default:
      return makeRefusal(405, 'The path does not allow this.');
  }
}

function readPrompt(prompt: Prompt, environment: string | null): Answer {
  if (environment === null) return { status: 200, body: `${renderOpenPrompt(prompt)}}` };
  return {
    status: 200,
    body: `${renderOpenPrompt(prompt)},"active_version":${prompt.active.get(environment)?.json ?? 'null'}}`,
  };
}

function activateVersion(prompt: Prompt, { environment, version_id: id }: Readonly<Record<string, unknown>>): Answer {
  const version = prompt.versions.find((candidate) => candidate.id === id);
  if (version === undefined) return makeRefusal(404, 'The prompt has no such version.');
  prompt.active.set(String(environment), version);
  return UPDATED;
}

/** Returns the JSON of a prompt without the closing brace. */
function renderOpenPrompt({ id, fields, versions }: Prompt): string {
  const latest_version_id = versions.at(-1)?.id ?? null;
  return JSON.stringify({ id, project_id: 'bench', ...fields, latest_version_id }).slice(0, -1);
}

function addVersion(prompt: Prompt, content: string, metadata_: unknown): Version {
  const number = prompt.versions.length + 1;
  const id = `ver_${prompt.id}_${number}`;
  const wire = { id, prompt_id: prompt.id, version_number: number, content, metadata_, created_at: NOW };
  const version = { id, json: JSON.stringify(wire) };
  prompt.versions.push(version);
  return version;
}

/** Makes a prompt as a sync leaves it: with one managed version, which is active in every environment. */
function makePrompt(index: number, { behind, empty = false }: Stock): Prompt {
  const prompt: Prompt = { id: idOf(index), fields: fieldsOf(index), versions: [], active: new Map() };
  if (empty) return prompt;
  const text = textOf(index, index < behind ? 0 : 1);
  const digest = computeContentDigest(text);
  const versionRecord = { digest, metadata_digest: EMPTY_METADATA_DIGEST, operation: 'bench', ledger: [] };
  const version = addVersion(prompt, text, { [VERSION_RECORD_KEY]: versionRecord });
  for (const environment of [...ENVIRONMENTS, TRACKING]) prompt.active.set(environment, version);
  return prompt;
}

function parseBody(body: string): Readonly<Record<string, unknown>> {
  return JSON.parse(body);
}

function makeRefusal(status: number, detail: string): Answer {
  return { status, body: JSON.stringify({ detail }) };
}
