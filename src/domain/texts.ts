import type { JsonObject } from './json.ts';

/** What an environment serves, or would serve. */
export type Side = {
  /** `v6`, `new version`. */
  readonly label: string;
  readonly text: string;
  /** Absent where the file does not manage metadata, or where it is not known. */
  readonly metadata?: JsonObject;
};

/** One environment's text before and after; null: nothing is active; `unknown`: it was never read. */
export type TextChange = {
  readonly environment: string;
  readonly before: Side | 'unknown' | null;
  readonly after: Side | 'unknown';
};

/** By prompt id. The report itself holds no texts. */
export type Texts = ReadonlyMap<string, readonly TextChange[]>;
