import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initRepository } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';

/** The files that a commit changes. `null` deletes a file. `merge` names a history to merge. */
type Commit = Readonly<Record<string, string | null>> & { readonly merge?: string };

/**
 * Commits, oldest first, by the name of their branch, with `-` for other characters, or by `tags/NAME`. Histories that
 * begin in the same way share their first commits.
 */
export type Histories = Readonly<Record<string, readonly Commit[]>>;

/** A repository with branch main checked out, and the ids of the commits of each history, oldest first. */
export type HistoryRepository = {
  readonly folder: string;
  readonly commits: Readonly<Record<string, readonly string[]>>;
};

export const PATH = 'prompts/a.md';

/** Returns the file of the prompt `prm_a`. */
export const promptA = (text: string, parts: PromptParts = {}): string => promptText('a', { text, ...parts });

/** The time of the first commit of each history. Each further commit is a second later. */
export const FIRST_TIME = 1_767_323_045;

/** Makes a repository with these histories. A history must follow the histories that it merges. */
export function makeHistories(histories: Histories): HistoryRepository {
  const folder = mkdtempSync(join(process.env['TESTS_FOLDER'] ?? tmpdir(), 'histories-'));
  initRepository(folder);
  const marks = new Map<string, readonly number[]>();
  let mark = 0;
  const input = Object.entries(histories).flatMap(([name, commits]) => {
    const first = mark + 1;
    mark += commits.length;
    marks.set(
      name,
      commits.map((_, age) => first + age),
    );
    const safe = name.replaceAll(/[^\w/.]+/g, '-');
    const ref = name.startsWith('tags/') ? `refs/${safe}` : `refs/heads/${safe}`;
    return commits.map(({ merge, ...files }, age) => {
      const parents = age === 0 ? [] : [`from :${first + age - 1}`];
      if (merge !== undefined) parents.push(`merge :${marks.get(merge)!.at(-1)}`);
      const by = `Ada <ada@example.com> ${FIRST_TIME + age} +0000`;
      const head = [
        `commit ${ref}`,
        `mark :${first + age}`,
        `author ${by}`,
        `committer ${by}`,
        data('Change'),
        ...parents,
      ];
      const changes = Object.entries(files).map(([path, text]) =>
        text === null ? `D ${path}` : `M 100644 inline ${path}\n${data(text)}`,
      );
      return [...head, ...changes, ''].join('\n');
    });
  });
  const exported = join(folder, '.git/exported-marks');
  execFileSync('git', ['fast-import', '--quiet', `--export-marks=${exported}`], {
    cwd: folder,
    input: input.join('\n'),
  });
  const ids = new Map(
    readFileSync(exported, 'utf8')
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
  const commits = [...marks].map(([name, own]) => [name, own.map((one) => ids.get(`:${one}`)!)] as const);
  return { folder, commits: Object.fromEntries(commits) };
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}
