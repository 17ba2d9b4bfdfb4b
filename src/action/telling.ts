import type { CommandResult } from '../commands/result.ts';
import type { MarkdownOptions } from '../report/markdown.ts';
import type { Report } from '../report/schema.ts';
import type { Mode } from './choose-mode.ts';
import type { Context } from './context.ts';
import type { FailureReason } from './failure.ts';

/** What a run has come to; without a context it could not even begin. */
export type Done = { readonly result: CommandResult; readonly mode: Mode; readonly context: Context | null };

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
