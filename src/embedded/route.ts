import { paths } from '../service/wire.ts';

/** A request that the service does not do, with the answer it gets: `{ "detail": … }` under the status. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

export type Operation = 'read-prompt' | 'update-prompt' | 'create-version' | 'set-active';

export type Route = {
  readonly operation: Operation;
  readonly promptId: string;
  /** Absent when the query names none. */
  readonly environment?: string;
};

const PREFIX = paths.prompt('');

const endpoints = [
  { method: 'GET', tail: '', operation: 'read-prompt' },
  { method: 'PATCH', tail: '', operation: 'update-prompt' },
  { method: 'POST', tail: '/versions', operation: 'create-version' },
  { method: 'POST', tail: '/set-active', operation: 'set-active' },
] as const satisfies readonly { method: string; tail: string; operation: Operation }[];

/**
 * The endpoint (interface section 4) for a request's method and target. The target is taken as it was sent: dots are
 * not resolved, so no id can reach another path. Throws a `Refusal`: 404 for another path, 405 for another method, 422
 * for an id or an environment that cannot be read.
 */
export function parseRoute(method: string, target: string): Route {
  const { promptPart, tail, query } = splitTarget(target);
  const here = endpoints.filter((endpoint) => endpoint.tail === tail);
  if (promptPart === '' || here.length === 0) throw new Refusal(404, 'There is no such path.');
  const endpoint = here.find((candidate) => candidate.method === method);
  if (endpoint === undefined) {
    const allow = here.map((candidate) => candidate.method).join(', ');
    throw new Refusal(405, `The path allows ${allow}.`, { allow });
  }
  return { operation: endpoint.operation, promptId: decodeId(promptPart), ...parseQuery(query) };
}

function splitTarget(target: string): { promptPart: string; tail: string; query: string } {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const rest = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : '';
  const slash = rest.indexOf('/');
  return {
    promptPart: slash < 0 ? rest : rest.slice(0, slash),
    tail: slash < 0 ? '' : rest.slice(slash),
    query: mark < 0 ? '' : target.slice(mark + 1),
  };
}

function decodeId(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new Refusal(422, 'prompt_id: the percent-encoding is not valid.');
  }
}

/** The interface does not say what an empty or a repeated name means, so neither is guessed at. */
function parseQuery(query: string): { readonly environment?: string } {
  const names = new URLSearchParams(query).getAll('environment');
  const environment = names[0];
  if (environment === undefined) return {};
  if (names.length > 1 || environment === '') throw new Refusal(422, 'environment: one name, not empty, is expected.');
  return { environment };
}
