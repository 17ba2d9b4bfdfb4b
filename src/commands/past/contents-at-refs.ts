import type { ContentAtRef } from '../../domain/plan.ts';
import type { Content, PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import { makeProblem, type Place, type Problem } from '../../problem.ts';
import { findAt } from './find-at.ts';

type AtRefs = ReadonlyMap<string, ContentAtRef | Problem>;

/**
 * By prompt id and ref: each prompt's content at the refs that its `git:` pins name, or why there is none. Of a prompt
 * with several files (of now, of the base commit) the first has the say.
 */
export async function readContentsAtRefs(
  files: readonly PromptFile[],
  repository: Repository | null,
): Promise<ReadonlyMap<string, AtRefs>> {
  const pinned = files.filter(({ pins }) => pins.some(({ pin }) => pin.kind === 'git'));
  const read = await Promise.all(pinned.map(async (file) => ({ id: file.id, at: await readOne(file, repository) })));
  const byId = Map.groupBy(read, ({ id }) => id);
  const merged = (all: readonly { readonly at: AtRefs }[]) => new Map(all.toReversed().flatMap(({ at }) => [...at]));
  return new Map([...byId].map(([id, all]) => [id, merged(all)]));
}

/** The contents that one prompt's refs have; none where nothing was read. */
export function contentsIn(atRefs: AtRefs | undefined): readonly Content[] {
  return [...(atRefs?.values() ?? [])].flatMap((at) => ('content' in at ? [at.content] : []));
}

async function readOne(file: PromptFile, repository: Repository | null): Promise<AtRefs> {
  const contents = new Map<string, ContentAtRef | Problem>();
  for (const { pin, line, column } of file.pins) {
    if (pin.kind !== 'git' || contents.has(pin.ref)) continue;
    contents.set(pin.ref, await contentAt(file, pin.ref, repository, { path: file.path, line, column }));
  }
  return contents;
}

async function contentAt(
  file: PromptFile,
  ref: string,
  repository: Repository | null,
  place: Place,
): Promise<ContentAtRef | Problem> {
  if (repository === null) return makeProblem('pin/needs-git', { ref }, place);
  const commit = await repository.resolveRef(ref);
  if (commit === null) return makeProblem('pin/unknown-ref', { ref }, place);
  const found = await findAt({ id: file.id, path: repository.fromRoot(file.path) }, commit, repository);
  if (typeof found === 'string') return makeProblem('pin/no-prompt-at-ref', { ref, reason: found }, place);
  const last = await repository.lastCommitAt(commit, found.path);
  const summary = last?.changeSummary;
  const provenance = { commit, path: found.path, ...(summary === undefined ? {} : { changeSummary: summary }) };
  return { content: found.file.content, provenance };
}
