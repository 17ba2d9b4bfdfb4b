import type { Observation } from '../domain/observed-prompt.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { DefaultBase } from '../desired/open-default-base.ts';
import type { DesiredWorkspace } from '../desired/read-desired-state.ts';
import { findFileAtCommit, type PromptRepository } from '../history/read-at-commit.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { DEFAULT_PROVIDER, NAMED_PROVIDERS, PROVIDERS } from '../providers/list.ts';

/** An observation, and the problems that concern all of its prompts rather than one. */
export type ExplainedObservation = { readonly observation: Observation; readonly problems: readonly Problem[] };

/**
 * Explains why the service does not have the prompts of some files. If it has none of several prompts, the address is
 * probably wrong. Otherwise, a prompt whose file already existed before the base commit was probably deleted in the
 * service. The id of any other prompt may be wrong. If promptsync found no prompt, the address may be wrong, too.
 * @param service the name of the service in reports
 */
export async function explainUnknownPrompts(
  observation: Observation,
  desired: DesiredWorkspace,
  defaultBase: DefaultBase | null,
  service: string,
): Promise<ExplainedObservation> {
  const { files } = desired;
  const unknown = files.filter(({ id }) => observation.failed.get(id)?.code === 'service/prompt-not-found');
  const lacksAll = unknown.length === files.length;
  const maySearch = !(lacksAll && files.length > 1);
  // Without the earlier commits, promptsync can still report the prompts as unknown.
  const deleted = maySearch ? await findSyncedFiles(unknown, desired, defaultBase).catch(() => []) : [];
  const problems = deleted.map(({ id }) => [id, makeProblem('service/prompt-deleted', { promptId: id })] as const);
  const isAddressSuspect = lacksAll && unknown.length > deleted.length;
  return {
    observation: { ...observation, failed: new Map([...observation.failed, ...problems]) },
    problems: isAddressSuspect ? [makeProblem('service/none-found', { service, interfacePaths: INTERFACE_PATHS })] : [],
  };
}

/**
 * Returns the files whose prompts were probably synced: the commit before the base has a valid file with the same id.
 * The commit of the base is not enough, because the sync of that commit may not have run yet.
 */
async function findSyncedFiles(
  files: readonly PromptFile[],
  { repository, base }: DesiredWorkspace,
  defaultBase: DefaultBase | null,
): Promise<readonly PromptFile[]> {
  if (files.length === 0 || repository === null) return [];
  const commit = base?.commit ?? (defaultBase === null ? repository.head : await defaultBase.findCommit());
  // In a partial clone, git would fetch the old files from the remote.
  if (commit === null || (await repository.isPartial())) return [];
  const earlier = await repository.resolveRef(`${commit}~1`);
  if (earlier === null) return [];
  const wereThere = await Promise.all(files.map((file) => existsAtCommit(file, earlier, repository)));
  return files.filter((_, index) => wereThere[index] === true);
}

async function existsAtCommit(file: PromptFile, commit: string, repository: PromptRepository): Promise<boolean> {
  const location = { id: file.id, type: file.type, path: repository.toRootPath(file.path) };
  return (await findFileAtCommit(location, commit, repository)).kind === 'found';
}

/**
 * The API paths of all supported services, for the problem `service/none-found`. A wrong address and a missing
 * `provider` setting have the same symptom. If the setting is missing, the user needs the path of a different service,
 * so the problem shows all paths.
 */
const INTERFACE_PATHS = [
  `\`${PROVIDERS[DEFAULT_PROVIDER].interfacePath}\``,
  ...Object.values(NAMED_PROVIDERS).map(({ title, interfacePath }) => `for ${title}, \`${interfacePath}\``),
].join(' or, ');
