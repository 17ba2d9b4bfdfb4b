import { formatNumber, makeExcerpt } from '../../text.ts';
import { defineError, defineWarning } from '../../problems/catalog-entry.ts';

export const LANGFUSE_PROBLEMS = {
  'langfuse/refused': defineError<{
    status: number;
    /** Langfuse's error message. */
    message: string;
  }>(
    (e) => `Langfuse rejected the request (${e.status}): "${makeExcerpt(e.message, true)}"`,
    'Fix the problem that Langfuse describes, then run the command again.',
  ),
  'langfuse/concurrent-version': defineError(
    'Someone else created a version of this prompt in Langfuse while promptsync was syncing the prompt.',
    'Wait until the other changes are complete, then run the command again.',
  ),
  'langfuse/missing-part': defineError<{
    part: string;
    selector: string;
    /** The file of the part, if the user did not select it. */
    path: string | null;
  }>(
    (e) =>
      `The prompt includes "${e.part}" (${e.selector}) with a composition tag, but Langfuse has no such prompt, label, or version.`,
    (e) =>
      e.path === null
        ? 'Correct the composition tag, or create the missing prompt, label, or version in Langfuse. Then run the command again.'
        : `Run the command again, and also select \`${e.path}\`, which contains the missing prompt.`,
  ),
  'langfuse/composition-fails': defineWarning<{
    version: number;
    /** Langfuse's error message. */
    message: string;
  }>(
    (e) => `Langfuse cannot resolve the composition tags of v${e.version}: "${makeExcerpt(e.message, true)}"`,
    'Correct the composition tags in this prompt or in the prompts that it includes. Until then, applications cannot read this version.',
  ),
  'langfuse/too-many': defineError<{ name: string; what: 'versions' | 'labels'; count: number; limit: number }>(
    (e) =>
      `"${e.name}" has ${formatNumber(e.count)} ${e.what} in Langfuse, but promptsync reads at most ${formatNumber(e.limit)}.`,
    (e) =>
      e.what === 'versions'
        ? 'Delete old versions of the prompt in Langfuse, or switch to a new prompt with a different name.'
        : "In Langfuse, remove unused labels from the prompt's versions.",
  ),
  'langfuse/too-large': defineError<{
    name: string;
    /** The maximum size in MiB. */
    limit: number;
  }>(
    (e) =>
      `The versions of "${e.name}" in Langfuse are larger than ${e.limit} MiB, which is the most that promptsync reads.`,
    'Delete old versions of the prompt in Langfuse, or switch to a new prompt with a different name.',
  ),
  'langfuse/listing-too-large': defineError<{
    /** The maximum size of the list with its unit, such as "64 MiB". */
    limit: string;
  }>(
    (e) => `The list of prompts in Langfuse is larger than ${e.limit}, which is the most that promptsync reads.`,
    'Make sure that the base URL points to Langfuse. If the project really has that many prompts, versions, and labels, delete the ones that you do not use, or split the project.',
  ),
};
