import type { MarkdownOptions } from '../rendering/render-markdown.ts';
import type { Report } from '../schemas/report.ts';
import type { Mode } from './choose-mode.ts';
import type { FailureReason } from './failure.ts';

/** What is told of a run, wherever it is told. */
export type Telling = {
  readonly mode: Mode;
  readonly report: Report;
  readonly failure: FailureReason;
  readonly page: MarkdownOptions;
  /** Of each changing prompt: see `partsOf`. */
  readonly parts: readonly string[];
  /** Takes secrets out. */
  readonly hide: (text: string) => string;
};
