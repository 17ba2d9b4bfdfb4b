import { normalize, sep } from 'node:path';
import type { MarkdownOptions } from '../report/markdown.ts';
import type { Done } from './telling.ts';

/** What a page says besides the report; without a limit of length. */
export function pageOf({ mode, context }: Done): MarkdownOptions {
  const folder = normalize(context?.inputs['working-directory'] ?? '.').replace(/[\\/]$/, '');
  return {
    ...{ title: mode, limit: null },
    folder: folder === '.' ? null : folder.split(sep).join('/'),
    // Readers know a pull request by its own commit, not by the merge that GitHub makes for a try.
    commit: context?.event.pull?.head ?? null,
    runUrl: context?.runUrl ?? null,
  };
}
