import type { CommitInfo } from '../domain/prompt-history.ts';
import { readMessage } from '../domain/pull-request.ts';
import { isCommitId, type AskWith } from './ask.ts';

const FIELDS = ['%H', '%an', '%aI', '%s', '%b'];

/**
 * Who made commits, when and why; those that are not there are left out. Ids may come from the service: only what can
 * be a commit's id is handed to git.
 */
export async function commitsOf(ask: AskWith, ids: Iterable<string>): Promise<ReadonlyMap<string, CommitInfo>> {
  const wanted = new Set([...new Set(ids)].filter(isCommitId));
  if (wanted.size === 0) return new Map();
  // What the user has configured for reading logs must not change what is read here.
  const plain = ['--no-show-signature', '--encoding=UTF-8', '--no-color', '--no-notes', '-s', '-z'];
  const format = `--format=tformat:${FIELDS.join('%x00')}`;
  const listed = await ask([...wanted], 'log', '--no-walk=unsorted', '--ignore-missing', ...plain, format, '--stdin');
  // Where no id is there, git tells of HEAD instead; and a tag's id is that of its commit.
  return new Map([...parseCommits(listed)].filter(([id]) => wanted.has(id)));
}

/** No field can hold the NUL that ends it. */
function parseCommits(listed: string): ReadonlyMap<string, CommitInfo> {
  const words = listed.split('\0');
  const starts = words.slice(0, -1).flatMap((_, index) => (index % FIELDS.length === 0 ? [index] : []));
  return new Map(
    starts.map((start): [string, CommitInfo] => {
      const [commit = '', author = '', date = '', subject = '', body = ''] = words.slice(start, start + FIELDS.length);
      const { pullRequest, subject: told } = readMessage(subject, body);
      return [commit, { commit, author, date, subject: told, ...(pullRequest === null ? {} : { pullRequest }) }];
    }),
  );
}
