import type { JsonObject } from './json.ts';
import type { SetActive } from './plan.ts';

/** A content that an environment serves, or would serve. */
export type Side = {
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

/** The same with the planned change that it comes from. */
export type ServedTexts = TextChange & { readonly change: SetActive };

/** By prompt id. */
export type Texts = ReadonlyMap<string, readonly ServedTexts[]>;
