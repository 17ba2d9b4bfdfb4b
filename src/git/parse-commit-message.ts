export type CommitMessage = {
  /** The subject of the commit or, for a merge, the title of the pull request if the body contains it. */
  readonly subject: string;
  /** The pull request on GitHub, such as `#12`, or the merge request on GitLab, such as `!12`. */
  readonly pullRequest: string | null;
};

/** Parses a commit message in the format of GitHub or GitLab. */
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

/** Returns the first line of a merge commit's body, unless it is empty or GitLab's merge request line. */
function findTitle(body: string): string | null {
  const firstLine = body.split('\n', 1)[0]?.trim() ?? '';
  return firstLine === '' || firstLine.startsWith('See merge request ') ? null : firstLine;
}
