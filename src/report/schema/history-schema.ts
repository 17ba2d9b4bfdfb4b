import { z } from 'zod';

export const DigestShape = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const COMMIT_INFO_FIELDS = {
  author: z.string().optional().describe('The name of the author.'),
  date: z.string().optional().describe('The author date in ISO 8601.'),
  subject: z
    .string()
    .optional()
    .describe('The subject of the commit. For the merge commit of a pull request, the title of the pull request.'),
  pull_request: z
    .string()
    .optional()
    .describe('The number of the pull or merge request, such as #12 on GitHub or !12 on GitLab.'),
};

export const CommitShape = z
  .object({ commit: z.string().describe('The id of the commit.'), ...COMMIT_INFO_FIELDS })
  .describe('A commit. If the repository does not have the commit, only its id is known.');

const MakerShape = z
  .enum(['git', 'uncommitted', 'before-adoption', 'outside', 'unknown'])
  .describe(
    'Who created the version. git: promptsync, from a commit. uncommitted: promptsync, from an uncommitted file. before-adoption: someone else, before promptsync created its first version of the prompt. outside: someone else, after promptsync created its first version of the prompt. unknown: the service does not record the creator.',
  );

const VERSION_FIELDS = {
  id: z.string().describe('The id of the version in the service.'),
  version_number: z.int().describe('The number of the version in the service.'),
  digest: DigestShape.describe("The digest of the version's content, computed with LF line endings."),
  made_by: MakerShape,
  baseline: z
    .literal(true)
    .optional()
    .describe(
      'true if the version is a baseline, which records the versions that existed before it. Absent otherwise.',
    ),
  commit: z.string().optional().describe('The commit that the content of the version comes from.'),
  ...COMMIT_INFO_FIELDS,
  path: z.string().optional().describe('The path of the file at that commit, relative to the repository root.'),
  message: z
    .string()
    .optional()
    .describe('The message that was stored when the version was created, if the service provides this message.'),
  created_at: z
    .string()
    .optional()
    .describe('The time at which the service created the version, in ISO 8601 format, if the service provides it.'),
  created_by: z
    .string()
    .optional()
    .describe('The user or the API key that created the version, if the service provides it.'),
};

const PinPeriodShape = z.object({
  environment: z.string().describe('The environment that the file pinned to the version.'),
  from: CommitShape.nullable().describe(
    'The commit on the checked-out branch that set the pin. null if the pin is older than all known commits.',
  ),
  until: CommitShape.nullable().describe(
    'The commit that changed or removed the pin. null if the last commit still has the pin.',
  ),
  served: z.boolean().describe('Whether the environment serves the version now.'),
});

export const HistoryShape = z.object({
  versions: z
    .array(
      z.object({
        ...VERSION_FIELDS,
        active_in: z.array(z.string()).describe('The environments that serve the version now.'),
        pinned: z
          .array(PinPeriodShape)
          .describe('The periods during which the file pinned the version, according to the git history.'),
      }),
    )
    .describe('All known versions, newest first.'),
});

export const LineageShape = z.object({
  environment: z.string().describe('The environment that the user selected.'),
  serves: z
    .object(VERSION_FIELDS)
    .nullable()
    .describe('The version that the environment serves. null if it serves none.'),
  pinned: CommitShape.nullable().describe(
    'The commit in which the file started to pin the served version. The file has pinned that version ever since. null if the file does not pin that version.',
  ),
});
