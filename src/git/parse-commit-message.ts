/** The information that promptsync extracts from a commit message. */
export type CommitMessage = {
  /**
   * The subject of the commit. If the body of a merge commit contains the title of the pull request, this is that title
   * instead.
   */
  readonly subject: string;
  /**
   * The pull request on GitHub, such as `#12`, or the merge request on GitLab, such as `!12`. Null if the message
   * mentions neither.
   */
  readonly pullRequest: string | null;
};

/**
 * Parses a commit message in the format of GitHub or GitLab. The subject of a merge commit does not describe the
 * change, so the function uses the title in the body instead.
 */
export function parseCommitMessage(subject: string, body: string): CommitMessage {
  const mergedNumber = /^Merge pull request #(\d{1,9})\b/.exec(subject)?.[1];
  if (mergedNumber !== undefined) return { subject: findTitle(body) ?? subject, pullRequest: `#${mergedNumber}` };
  const squashedNumber = /\(#(\d{1,9})\)\s*$/.exec(subject)?.[1];
  if (squashedNumber !== undefined) return { subject, pullRequest: `#${squashedNumber}` };
  const mergeRequestNumber = body.match(MERGE_REQUEST)?.at(-1)?.split('!').at(-1);
  if (mergeRequestNumber === undefined) return { subject, pullRequest: null };
  const title = subject.startsWith('Merge branch ') ? findTitle(body) : null;
  return { subject: title ?? subject, pullRequest: `!${mergeRequestNumber}` };
}

/** The line that GitLab adds to a merge commit, such as `See merge request acme/prompts!12`. */
const MERGE_REQUEST = /^See merge request [^\s!]*!\d{1,9}(?=\r?$)/gm;

/**
 * Returns the first line of a merge commit's body. Returns null if the line is empty or is GitLab's merge request line.
 */
function findTitle(body: string): string | null {
  const firstLine = body.split('\n', 1)[0]?.trim() ?? '';
  return firstLine === '' || firstLine.startsWith('See merge request ') ? null : firstLine;
}
