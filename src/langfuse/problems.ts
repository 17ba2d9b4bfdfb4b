import { defineError, defineWarning } from '../problems/catalog-entry.ts';

/** What can go wrong only with Langfuse. */
export const LANGFUSE_PROBLEMS = {
  'langfuse/new-prompt': defineWarning<{ name: string }>(
    (e) => `Langfuse has no prompt "${e.name}" so far: a sync makes it.`,
    'Where it should be there, check the name with its folders, and the keys: they belong to one project.',
  ),
  'langfuse/not-text': defineError<{ name: string; type: string }>(
    (e) => `"${e.name}" is a ${e.type} prompt in Langfuse.`,
    'promptsync syncs text prompts. Take its file out, or make a text prompt of another name.',
  ),
  'langfuse/too-many': defineError<{ name: string; what: 'versions' | 'labels'; count: number; limit: number }>(
    (e) =>
      `"${e.name}" has ${grouped(e.count)} ${e.what} in Langfuse, and promptsync reads at most ${grouped(e.limit)}.`,
    (e) =>
      e.what === 'versions'
        ? 'Delete old versions of the prompt in Langfuse, or go on with a prompt of another name.'
        : 'Remove labels that nothing uses from its versions in Langfuse.',
  ),
  'langfuse/too-large': defineError<{ name: string; limit: number }>(
    (e) => `The versions of "${e.name}" in Langfuse that promptsync has to read take more than ${e.limit} MiB.`,
    'Delete old versions of the prompt in Langfuse, or go on with a prompt of another name.',
  ),
  'langfuse/listing-too-large': defineError<{ limit: string }>(
    (e) => `Langfuse's list of prompts has more than ${e.limit}.`,
    'Check that the base URL is Langfuse itself. If the project really has that many prompts, versions and labels, delete those that nothing uses, or split the project.',
  ),
};

/** Writes a number with commas, such as 10,000. */
function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
