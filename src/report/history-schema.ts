import { z } from 'zod';
import { digest } from './changes.ts';

/** What the report of `history` tells of one prompt. */

const commitInfo = {
  author: z.string().optional().describe('The author’s name.'),
  date: z.string().optional().describe('The author’s date, ISO 8601.'),
  subject: z.string().optional().describe('Of the merge commit of a pull request: the title of that.'),
  pull_request: z.string().optional().describe('#12, or !12 of GitLab.'),
};

const commit = z
  .object({ commit: z.string().describe('Its id.'), ...commitInfo })
  .describe('Of a commit that the repository does not have, its id alone.');

const maker = z
  .enum(['git', 'uncommitted', 'outside', 'unknown'])
  .describe(
    'uncommitted: by promptsync, from a file that no commit holds. outside: by somebody else. unknown: the service drops metadata, which would tell.',
  );

const made = {
  id: z.string().describe('The service’s id of the version.'),
  version_number: z.int().describe('The number that the service gave it.'),
  digest: digest.describe('Of its content, with line feeds.'),
  made_by: maker,
  commit: z.string().optional().describe('The commit that its content comes from.'),
  path: z.string().optional().describe('The file at that commit, from the repository’s root.'),
  ...commitInfo,
};

const pinned = z.object({
  environment: z.string().describe('The environment that was pinned to it.'),
  from: commit
    .nullable()
    .describe('The commit that pinned it, on the branch that is checked out; null: one before all that are known.'),
  until: commit.nullable().describe('The commit that ended it; null: the last commit still says so.'),
  served: z.boolean().describe('Whether the service serves it there now.'),
});

export const HistoryShape = z.object({
  versions: z
    .array(
      z.object({
        ...made,
        active_in: z.array(z.string()).describe('Environments that serve it now.'),
        pinned: z.array(pinned).describe('When the file’s pins meant it, as git tells it.'),
      }),
    )
    .describe('All that are known, newest first.'),
});

export const LineageShape = z.object({
  environment: z.string().describe('The one that was asked for.'),
  serves: z.object(made).nullable().describe('null: the environment serves nothing.'),
  pinned: commit
    .nullable()
    .describe('Since when the file’s pin means what is served, without a break; null: it does not.'),
});
