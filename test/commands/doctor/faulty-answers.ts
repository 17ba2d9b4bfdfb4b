import type { FrontAnswer, FrontRequest } from '../../support/front.ts';

/** Forwards a request to the service and returns its answer. */
type Forward = (request: FrontRequest) => Promise<FrontAnswer>;

/** Answers a request in place of the service. `null` forwards the request unchanged; an exception cuts the connection. */
export type Fault = (request: FrontRequest, forward: Forward) => Promise<FrontAnswer | null>;

export type RequestFilter = (request: FrontRequest) => boolean;

export const isCreate: RequestFilter = ({ method, path }) => method === 'POST' && path.endsWith('/versions');

export function isActivationOf(environment: string): RequestFilter {
  return ({ path, body }) => path.endsWith('/set-active') && bodyOf(body)['environment'] === environment;
}

/** Limits a fault to the requests that match, and with `numbers` to those matches only (counted from 1). */
export function faultOn(matches: RequestFilter, fault: Fault, ...numbers: readonly number[]): Fault {
  let met = 0;
  return async (request, forward) => {
    if (!matches(request)) return null;
    met += 1;
    return numbers.length === 0 || numbers.includes(met) ? fault(request, forward) : null;
  };
}

/** Cuts the connection after the service has handled the request. */
export const cutAfter: Fault = async (request, forward) => {
  await forward(request);
  throw new Error('cut');
};

/** Changes the body of each answer, to imitate a service that answers differently from the embedded one. */
export function changeAnswers(change: (body: string) => string): Fault {
  return async (request, forward) => {
    const answer = await forward(request);
    return { ...answer, body: change(answer.body) };
  };
}

/** The body of a create-version call. */
export type Sent = { readonly content: string; readonly metadata_?: unknown };

function bodyOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
