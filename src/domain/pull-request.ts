/** A commit's message as it is told: in one line, and with the pull request that it names. */
export type Told = { readonly subject: string; readonly pullRequest: string | null };

/**
 * Reads the pull request out of a commit's message, as GitHub and GitLab write it there: `#12`, or `!12` of GitLab. A
 * merge commit's own subject names branches alone; what was merged is called in its body.
 */
export function readMessage(subject: string, body: string): Told {
  const merged = /^Merge pull request #(\d{1,9})\b/.exec(subject)?.[1];
  if (merged !== undefined) return { subject: titleIn(body) ?? subject, pullRequest: `#${merged}` };
  const squashed = /\(#(\d{1,9})\)\s*$/.exec(subject)?.[1];
  if (squashed !== undefined) return { subject, pullRequest: `#${squashed}` };
  const request = body.match(MERGE_REQUEST)?.at(-1)?.split('!').at(-1);
  if (request === undefined) return { subject, pullRequest: null };
  const branches = subject.startsWith('Merge branch ');
  return { subject: (branches ? titleIn(body) : null) ?? subject, pullRequest: `!${request}` };
}

const MERGE_REQUEST = /^See merge request [^\s!]*!\d{1,9}(?=\r?$)/gm;

function titleIn(body: string): string | null {
  const first = body.split('\n', 1)[0]?.trim() ?? '';
  return first === '' || first.startsWith('See merge request ') ? null : first;
}
