import type { Texts } from '../../domain/text-changes.ts';
import type { Restored } from '../restored.ts';
import type { Report, ReportPrompt } from '../schema.ts';

/** What a page tells besides the report. */
export type HtmlOptions = {
  readonly texts: Texts;
  /** The drift that a sync only puts back; the report does not tell it. */
  readonly restored: Restored;
  /** What the page is about, such as `plan`. */
  readonly title: string;
};

/** What the parts of one page have in common. */
export type PageContext = HtmlOptions & {
  readonly mode: Report['mode'];
  readonly environments: readonly string[];
  /** The id of a prompt's row, and what a link to it leads to. */
  readonly linkOf: (prompt: ReportPrompt) => string;
};
