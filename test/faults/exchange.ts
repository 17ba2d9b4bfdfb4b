import type { ServerResponse } from 'node:http';
import type { FrontAnswer, FrontRequest } from '../support/front.ts';

/**
 * When the service does what it was asked for after the client gave up, counted in what the client does next: the
 * clock decides nothing.
 */
export const MOMENTS = ['next request', 'third request', 'run ended', 'next run begun', 'next create'] as const;
export type Moment = (typeof MOMENTS)[number];

/** What is done to a request instead of handing it on; it ends the answer or the connection, or leaves both open. */
export type Act = (exchange: Exchange) => unknown;

/** One request that has arrived at the front and was not handed on yet. */
export type Exchange = {
  readonly request: FrontRequest;
  /** The key as it came. */
  readonly key: string;
  readonly response: ServerResponse;
  /** Another origin, where nothing may ever arrive. */
  readonly elsewhere: string;
  /** Has the service do it. Its answer is not passed on. */
  readonly commit: () => Promise<FrontAnswer>;
  readonly commitAt: (moment: Moment) => void;
  /** What the service would answer to a read of the prompt now. */
  readonly peek: () => Promise<FrontAnswer>;
  /** Somebody else makes a version of the prompt. */
  readonly intrude: () => void;
};
