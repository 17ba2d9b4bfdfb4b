import { extname } from 'node:path';
import type { ContentAtRef } from '../../domain/plan.ts';
import type { Content, PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import { isError, makeProblem, type Place, type Problem } from '../../problem.ts';
import type { ParseResult } from '../../prompts/parse.ts';
import { parseAt } from './parse-at.ts';

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
  const found = await findAt(file, commit, repository);
  if (typeof found === 'string') return makeProblem('pin/no-prompt-at-ref', { ref, reason: found }, place);
  const last = await repository.lastCommitAt(commit, found.path);
  const summary = last?.changeSummary;
  const provenance = { commit, path: found.path, ...(summary === undefined ? {} : { changeSummary: summary }) };
  return { content: found.file.content, provenance };
}

type Found = { readonly file: PromptFile; readonly path: string };

/** The prompt is found by its id: at the same path, or wherever the file was then. A text says why it is not. */
async function findAt({ id, path }: PromptFile, commit: string, repository: Repository): Promise<Found | string> {
  const own = repository.fromRoot(path);
  const others = async () =>
    (await repository.filesHolding(commit, id, extname(path))).filter((other) => other !== own);
  let reason = 'no file with its id';
  for (const candidates of [async () => [own], others]) {
    for (const candidate of await candidates()) {
      const parsed = await parseAt(repository, commit, candidate);
      if (parsed === null) continue;
      if (parsed.file?.id === id) return { file: parsed.file, path: candidate };
      reason = invalidity(parsed, candidate, id, candidate === own) ?? reason;
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
