import type { FrontAnswer, FrontRequest } from '../support/front.ts';
import { KEY } from '../support/service.ts';

/** Hands a request on to the service, and returns its answer. */
export type Forward = (request: FrontRequest) => Promise<FrontAnswer>;

/** What a front does with a request: null hands it on as it is, and throwing cuts the connection. */
export type Fault = (request: FrontRequest, forward: Forward) => Promise<FrontAnswer | null>;

export type Matches = (request: FrontRequest) => boolean;

export const isRead: Matches = ({ method }) => method === 'GET';
export const isCreate: Matches = ({ method, path }) => method === 'POST' && path.endsWith('/versions');

export function reads(environment: string): Matches {
  return ({ method, path }) => method === 'GET' && path.endsWith(`?environment=${encodeURIComponent(environment)}`);
}

export function activates(environment: string): Matches {
  return ({ path, body }) => path.endsWith('/set-active') && bodyOf(body)['environment'] === environment;
}

/** Does it to the requests that match, and with numbers given (from 1) only to those of them. */
export function on(matches: Matches, fault: Fault, ...numbers: readonly number[]): Fault {
  let met = 0;
  return async (request, forward) => {
    if (!matches(request)) return null;
    met += 1;
    return numbers.length === 0 || numbers.includes(met) ? fault(request, forward) : null;
  };
}

/** Cuts the connection; the service has never seen the request. */
export const cutBefore: Fault = () => Promise.reject(new Error('cut'));

/** Cuts the connection after the service has done what was asked. */
export const cutAfter: Fault = async (request, forward) => {
  await forward(request);
  throw new Error('cut');
};

/** The service keeps another version than was sent. */
export function keeps(change: (version: Sent) => Sent): Fault {
  return on(isCreate, async (request, forward) => {
    const { content, ...rest } = bodyOf(request.body);
    return forward({ ...request, body: change({ ...rest, content: String(content) }) });
  });
}

/** The service answers otherwise than the embedded one does. */
export function answers(change: (body: string) => string): Fault {
  return async (request, forward) => {
    const answer = await forward(request);
    return { ...answer, body: change(answer.body) };
  };
}

/** Versions are numbered 100, 110, 120, …: the interface does not say how they are. */
export function numberedOddly(body: string): string {
  return body.replaceAll(/"version_number":(\d+)/g, (_, number) => `"version_number":${90 + 10 * Number(number)}`);
}

/** The body of a create-version call. */
export type Sent = { readonly content: string; readonly metadata_?: unknown };

export function forwardTo(baseUrl: string): Forward {
  return async ({ method, path, body }) => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': KEY },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.text() };
  };
}

function bodyOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
