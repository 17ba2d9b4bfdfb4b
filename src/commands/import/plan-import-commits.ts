import type { Config } from '../../workspace/config.ts';
import { getProviderWords } from '../../workspace/service-settings.ts';
import type { Observation, ObservedPrompt } from '../../domain/observed-prompt.ts';
import type { Environment } from '../../domain/policy.ts';
import type { Pin, PromptFile, TypedPromptIdentity } from '../../domain/prompt-file.ts';
import { formatCount, showHidden } from '../../text.ts';
import {
  listOtherServedContents,
  listPortablePins,
  listServedPins,
  type ImportChoice,
} from '../../planning/choose-import.ts';
import { isError, wordProblem } from '../../problem.ts';
import { escapeCommitMessage } from '../../editing/edit-files.ts';
import { renderImportFile } from './render-import-file.ts';

export type ImportedFile = {
  readonly identity: TypedPromptIdentity;
  readonly choice: ImportChoice;
  readonly source: string;
};

export type ImportSettings = {
  readonly config: Config;
  /** The environments to pin, in promotion order. */
  readonly environments: readonly Environment[];
};

/** The state of a prompt file in a commit. The path is relative to the folder of the configuration. */
export type CommittedFile = { readonly path: string; readonly source: string };

export type PlannedCommit = { readonly subject: string; readonly files: readonly CommittedFile[] };

/** The commits of an import, oldest first, and a notice for each text that the commits cannot hold. */
type CommitPlan = { readonly commits: readonly PlannedCommit[]; readonly notices: readonly string[] };

/**
 * The last commit holds the new files. The earlier commits hold the other texts that environments serve. git then has
 * every served text, except those that no prompt file can hold.
 */
export function planImportCommits(
  files: readonly ImportedFile[],
  { observed }: Pick<Observation, 'observed'>,
  rules: ImportSettings,
): CommitPlan {
  if (files.length === 0) return { commits: [], notices: [] };
  const served = files.flatMap((file) => {
    const prompt = observed.get(file.identity.id);
    return prompt === undefined ? [] : listServedFiles(file, prompt, rules);
  });
  const lastFirst = rules.environments.toReversed().map(({ name }) => name);
  const servedCommits = lastFirst.map((environment) => ({
    subject: renderServedSubject(environment),
    files: served.filter((file) => file.environment === environment).flatMap(({ file }) => file ?? []),
  }));
  const lastCommit = {
    subject: `Import ${formatCount(files.length, 'prompt')}`,
    files: files.map(({ identity, source }) => ({ path: identity.path, source })),
  };
  return {
    commits: [...servedCommits.filter((commit) => commit.files.length > 0), lastCommit],
    notices: served.flatMap(({ notice }) => notice ?? []),
  };
}

/** The file for a text that an environment serves, or a notice if no prompt file can hold the text. */
type ServedFile = {
  readonly environment: string;
  readonly file: CommittedFile | null;
  readonly notice: string | null;
};

function listServedFiles(
  { identity, choice }: ImportedFile,
  prompt: ObservedPrompt,
  { config, environments }: ImportSettings,
): readonly ServedFile[] {
  const words = getProviderWords(config);
  const contents = listOtherServedContents(prompt, environments, choice.content);
  return contents.map(({ environment, number, content }) => {
    const pins = config.portablePins
      ? listPortablePins(prompt, environments, content)
      : listServedPins(prompt, environments);
    const { source, problems } = renderImportFile(identity, prompt, { content, pins }, config);
    if (source !== null) return { environment, file: { path: identity.path, source }, notice: null };
    const reasons = problems.filter(isError).map((problem) => wordProblem(problem, words).message);
    const notice = `No commit contains the text of "${showHidden(identity.key)}" that the ${words.environment} "${environment}" serves (v${number}): ${reasons[0] ?? ''}`;
    return { environment, file: null, notice: showHidden(notice) };
  });
}

function renderServedSubject(environment: string): string {
  return escapeCommitMessage(`Import prompts as ${environment} serves them`);
}

/**
 * Returns the pin of the environment whose text the commit holds, if `import --commit` created the commit. Returns null
 * for portable pins, which cannot name a version. Recognizes the subject even if a hook or a merge added words.
 */
export function findServedPin(
  { pins }: Pick<PromptFile, 'pins'>,
  subject: string,
): Extract<Pin, { readonly kind: 'number' | 'version' }> | null {
  const pin = pins.find(({ environment }) => subject.includes(renderServedSubject(environment)))?.pin;
  return pin?.kind === 'number' || pin?.kind === 'version' ? pin : null;
}
