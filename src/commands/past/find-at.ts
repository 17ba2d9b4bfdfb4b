import { extname } from 'node:path';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { gathered, type Gathered } from '../../git/gather.ts';
import type { Repository } from '../../git/repository.ts';
import { isError } from '../../problem.ts';
import type { ParseResult } from '../../files/parse.ts';
import { parseAt } from './parse-at.ts';

/** A prompt's file at a commit, and its path there from the repository's root. */
export type Found = { readonly file: PromptFile; readonly path: string };

/**
 * A prompt as it was at a commit, found by its id: at the path (from the repository's root), or wherever the file was
 * then. A text says why it is not. Each is looked for once: a commit never changes.
 */
export function findAt(
  { id, path }: Pick<PromptFile, 'id' | 'path'>,
  commit: string,
  repository: Repository,
): Promise<Found | string> {
  const finder = finders.get(repository) ?? makeFinder(repository);
  finders.set(repository, finder);
  const key = [commit, id, path].join('\0');
  const found = finder.found.get(key) ?? find(id, path, commit, repository, finder);
  finder.found.set(key, found);
  return found;
}

type Candidate = { readonly path: string; readonly parsed: ParseResult };

type Finder = {
  readonly found: Map<string, Promise<Found | string>>;
  /** By id, the files at a commit (the first of the group) with an ending (the second) that have it. */
  readonly search: Gathered<ReadonlyMap<string | undefined, readonly Candidate[]>>;
};

const finders = new WeakMap<Repository, Finder>();

function makeFinder(repository: Repository): Finder {
  const search = gathered(async (ids, commit = '', ending = '') => {
    const paths = await repository.filesHolding(commit, ids, ending);
    const candidates = await Promise.all(paths.map((path) => candidateAt(repository, commit, path)));
    return Map.groupBy(candidates.flat(), ({ parsed: { file, outline } }) => file?.id ?? outline?.id?.value);
  });
  return { found: new Map(), search };
}

async function candidateAt(repository: Repository, commit: string, path: string): Promise<readonly Candidate[]> {
  const parsed = await parseAt(repository, commit, path);
  return parsed === null ? [] : [{ path, parsed }];
}

async function find(
  id: string,
  own: string,
  commit: string,
  repository: Repository,
  { search }: Finder,
): Promise<Found | string> {
  const inPlace = () => candidateAt(repository, commit, own);
  const others = async () =>
    ((await search(id, commit, extname(own))).get(id) ?? []).filter(({ path }) => path !== own);
  let reason = 'no file with its id';
  for (const candidates of [inPlace, others]) {
    for (const { path, parsed } of await candidates()) {
      if (parsed.file?.id === id) return { file: parsed.file, path };
      reason = invalidity(parsed, path, id, path === own) ?? reason;
    }
  }
  return reason;
}

/** Why a file that is not readable stands in for the prompt: it has the prompt's id, or its place and no other id. */
function invalidity({ outline, problems }: ParseResult, path: string, id: string, inPlace: boolean): string | null {
  const invalid = problems.find(isError);
  const other = outline?.id?.value ?? (inPlace ? id : null);
  return invalid === undefined || other !== id ? null : `${path} is not valid: ${invalid.message}`;
}
