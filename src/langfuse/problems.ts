import { defineError, defineWarning } from '../problems/catalog-entry.ts';

/** The problems that can occur only with Langfuse. */
export const LANGFUSE_PROBLEMS = {
  'langfuse/new-prompt': defineWarning<{ name: string }>(
    (e) => `Langfuse has no prompt "${e.name}" yet. A sync creates it.`,
    'If the prompt should already exist, check its name, including its folders, and check that the keys belong to the right project.',
  ),
  'langfuse/not-text': defineError<{ name: string; type: string }>(
    (e) => `"${e.name}" is a ${e.type} prompt in Langfuse, but promptsync syncs only text prompts.`,
    'Remove the file of this prompt, or create a text prompt with another name.',
  ),
  'langfuse/too-many': defineError<{ name: string; what: 'versions' | 'labels'; count: number; limit: number }>(
    (e) =>
      `"${e.name}" has ${formatNumber(e.count)} ${e.what} in Langfuse, but promptsync reads at most ${formatNumber(e.limit)}.`,
    (e) =>
      e.what === 'versions'
        ? 'Delete old versions of the prompt in Langfuse, or continue with a prompt under a different name.'
        : 'Remove unused labels from the versions of the prompt in Langfuse.',
  ),
  'langfuse/too-large': defineError<{
    name: string;
    /** The maximum size in MiB. */
    limit: number;
  }>(
    (e) =>
      `promptsync would have to read more than its limit of ${e.limit} MiB for the versions of "${e.name}" in Langfuse.`,
    'Delete old versions of the prompt in Langfuse, or continue with a prompt under a different name.',
  ),
  'langfuse/listing-too-large': defineError<{
    /** The maximum size of the list with its unit, such as "64 MiB". */
    limit: string;
  }>(
    (e) => `The list of prompts in Langfuse is longer than ${e.limit}.`,
    'Check that the base URL is the address of Langfuse itself. If the project really has that many prompts, versions and labels, delete the unused ones or split the project.',
  ),
};

/** Formats a number with thousands separators, such as 10,000. */
function formatNumber(number: number): string {
  return number.toLocaleString('en-US');
}
