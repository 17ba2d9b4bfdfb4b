import type { FieldName, Plan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Repository } from '../git/repository.ts';
import type { Base } from '../planning/find-drift.ts';
import { parsePromptFile } from '../prompts/parse.ts';
import type { BaseFiles } from './read-base.ts';

/** A field that stands as it did so many changes of the file ago is no longer taken for unfinished work. */
const LONGEST_HISTORY = 50;

/** What drift is told by. The fields' history is read once a plan shows that some field drifts. */
export async function makeBase({ commit, files }: BaseFiles, repository: Repository): Promise<Base> {
  const commits = repository.head === null ? [commit] : [commit, repository.head];
  return { files, ancestors: await repository.ancestorsOf(commits), former: new Map() };
}

/** The base with the earlier fields of those prompts whose fields drift. */
export async function withFormerFields(
  base: Base,
  commit: string,
  { prompts }: Plan,
  repository: Repository,
): Promise<Base> {
  const drifting = prompts.filter(({ drift }) => drift.some((one) => 'field' in one));
  const entries = await Promise.all(
    drifting.map(async ({ file: { id } }): Promise<[string, readonly Fields[]]> => {
      const then = base.files.get(id);
      return [id, then === undefined ? [] : await formerFields(then, commit, repository)];
    }),
  );
  return { ...base, former: new Map(entries) };
}

type Fields = Pick<PromptFile, FieldName>;

async function formerFields({ id, path }: PromptFile, commit: string, repository: Repository) {
  const earlier = await repository.whereTouched(commit, repository.fromRoot(path), LONGEST_HISTORY);
  const files = await Promise.all(
    earlier.map(async (at) => {
      const bytes = await repository.fileAt(at.commit, at.path);
      return bytes === null ? null : parsePromptFile(bytes, at.path).file;
    }),
  );
  return files.filter((file) => file !== null).filter((file) => file.id === id);
}

export function driftsInFields({ prompts }: Plan): boolean {
  return prompts.some(({ drift }) => drift.some((one) => 'field' in one));
}
