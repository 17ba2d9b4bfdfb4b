import type { Entry } from './trees.ts';

/** A commit, and what it has otherwise than its first parent. */
export type LogEntry = {
  readonly commit: string;
  /** None at the edge of a shallow clone. */
  readonly parents: readonly string[];
  readonly subject: string;
  /** By path from the root, what is there now; null where nothing is. */
  readonly changes: ReadonlyMap<string, Change>;
};

export type Change = { readonly now: Entry | null; readonly isNew: boolean };

/**
 * Asks for commits so that nothing the user has configured for reading logs changes what is read here. Folders are told
 * as well, so that a file in the place of a folder has its line.
 */
export const LOG_ENTRIES = [
  ...['log', '--no-show-signature', '--encoding=UTF-8', '--no-color', '--no-notes', '--no-follow', '--no-relative'],
  ...['--no-renames', '--root', '--diff-merges=first-parent', '--raw', '-t', '-z', '--no-abbrev'],
  '--format=tformat:%x00%H %P%x00%s',
] as const;

/** Reads what git answers to these words. No field can hold the NUL that ends it. */
export function parseLog(listed: string): readonly LogEntry[] {
  const words = listed.split('\0');
  const entries: LogEntry[] = [];
  // Each commit begins with an empty word, and ends where the next word is none of a change.
  for (let index = 0; index + 2 < words.length;) {
    const { [index + 1]: ids = '', [index + 2]: subject = '' } = words;
    const [commit = '', ...parents] = ids.split(' ').filter((id) => id !== '');
    const changes = new Map<string, Change>();
    for (index += 3; CHANGE.test(words[index] ?? ''); index += 2) note(changes, words[index], words[index + 1]);
    entries.push({ commit, parents, subject, changes });
  }
  return entries;
}

const CHANGE = /^\n?:[0-9]{6} ([0-9]{6}) [0-9a-f]+ ([0-9a-f]+) ([A-Z])$/;

/** Where a file takes the place of a folder, the one is told as new and the other as gone. */
function note(changes: Map<string, Change>, line = '', path = ''): void {
  const [, mode = '', id = '', kind = ''] = CHANGE.exec(line) ?? [];
  if (kind !== 'D') changes.set(path, { now: { mode, id }, isNew: kind === 'A' });
  else if (!changes.has(path)) changes.set(path, { now: null, isNew: false });
}
