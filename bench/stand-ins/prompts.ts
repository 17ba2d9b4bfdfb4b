import { computeContentDigest, VERSION_RECORD_KEY } from '../../src/domain/content.ts';
import { API_KEY, ENVIRONMENTS, fieldsOf, idOf, textOf, TRACKING } from '../core/prompts.ts';
import type { Answer, Stock, Service } from './service.ts';

// The prompt service (its interface's section 4) in memory: answers like the embedded one, without what that one checks
// and keeps, so that the client is what is measured. A version's JSON is made once.

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

export function promptService(): Service {
  const prompts = new Map<string, Prompt>();
  return {
    stock: (stock) => {
      prompts.clear();
      for (let index = 0; index < stock.count; index++) prompts.set(idOf(index), filled(index, stock));
    },
    answer: (method, path, body, headers) => {
      if (headers['x-api-key'] !== API_KEY) return refusal(401, 'The API key is missing or not known.');
      if (!path.startsWith(PREFIX)) return refusal(404, 'There is no such path.');
      const [target = '', query = ''] = path.slice(PREFIX.length).split('?');
      const [id = '', tail = ''] = target.split('/');
      const prompt = prompts.get(decodeURIComponent(id));
      if (prompt === undefined) return refusal(404, 'There is no such prompt.');
      return operate(`${method} ${tail}`, prompt, query, body);
    },
  };
}

function operate(operation: string, prompt: Prompt, query: string, body: string): Answer {
  switch (operation) {
    case 'GET ':
      return read(prompt, query === '' ? null : new URLSearchParams(query).get('environment'));
    case 'PATCH ':
      prompt.fields = { ...prompt.fields, ...parse(body) };
      return { status: 200, body: `${open(prompt)},"created_at":"${NOW}"}` };
    case 'POST versions': {
      const { content, metadata_: metadata = null } = parse(body);
      if (typeof content !== 'string') return refusal(422, 'body.content: Invalid input');
      return { status: 200, body: add(prompt, content, metadata).json };
    }
    case 'POST set-active':
      return activate(prompt, parse(body));
    default:
      return refusal(405, 'The path does not allow this.');
  }
}

function read(prompt: Prompt, environment: string | null): Answer {
  if (environment === null) return { status: 200, body: `${open(prompt)}}` };
  return { status: 200, body: `${open(prompt)},"active_version":${prompt.active.get(environment)?.json ?? 'null'}}` };
}

function activate(prompt: Prompt, { environment, version_id: id }: Readonly<Record<string, unknown>>): Answer {
  const version = prompt.versions.find((one) => one.id === id);
  if (version === undefined) return refusal(404, 'The prompt has no such version.');
  prompt.active.set(String(environment), version);
  return UPDATED;
}

/** The prompt's JSON without its closing brace. */
function open({ id, fields, versions }: Prompt): string {
  const latest_version_id = versions.at(-1)?.id ?? null;
  return JSON.stringify({ id, project_id: 'bench', ...fields, latest_version_id }).slice(0, -1);
}

function add(prompt: Prompt, content: string, metadata_: unknown): Version {
  const number = prompt.versions.length + 1;
  const id = `ver_${prompt.id}_${number}`;
  const wire = { id, prompt_id: prompt.id, version_number: number, content, metadata_, created_at: NOW };
  const version = { id, json: JSON.stringify(wire) };
  prompt.versions.push(version);
  return version;
}

/** As a sync leaves it: one version, which promptsync made and which is active everywhere. */
function filled(index: number, { behind, empty = false }: Stock): Prompt {
  const prompt: Prompt = { id: idOf(index), fields: fieldsOf(index), versions: [], active: new Map() };
  if (empty) return prompt;
  const text = textOf(index, index < behind ? 0 : 1);
  const stamp = { digest: computeContentDigest(text), operation: 'bench', ledger: [] };
  const version = add(prompt, text, { [VERSION_RECORD_KEY]: stamp });
  for (const environment of [...ENVIRONMENTS, TRACKING]) prompt.active.set(environment, version);
  return prompt;
}

function parse(body: string): Readonly<Record<string, unknown>> {
  return JSON.parse(body);
}

function refusal(status: number, detail: string): Answer {
  return { status, body: JSON.stringify({ detail }) };
}
