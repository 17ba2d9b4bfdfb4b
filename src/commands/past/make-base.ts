import type { FieldName, Plan, PromptPlan } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import type { Base } from '../../planning/find-drift.ts';
import { parseAt } from './parse-at.ts';
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
  const entries = await Promise.all(
    prompts.filter(driftsInFields).map(async ({ file: { id } }): Promise<[string, readonly Fields[]]> => {
      const then = base.files.get(id);
      return [id, then === undefined ? [] : await formerFields(then, commit, repository)];
    }),
  );
  return { ...base, former: new Map(entries) };
}

type Fields = Pick<PromptFile, FieldName>;

async function formerFields({ id, path }: PromptFile, commit: string, repository: Repository) {
  const earlier = await repository.whereTouched(commit, repository.fromRoot(path), LONGEST_HISTORY);
  const parsed = await Promise.all(earlier.map((at) => parseAt(repository, at.commit, at.path)));
  return parsed.flatMap((one) => one?.file ?? []).filter((file) => file.id === id);
}

export function driftsInFields({ drift }: PromptPlan): boolean {
  return drift.some((one) => 'field' in one);
}
