import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { makeWrittenPin, type NewPin, type WrittenPin } from '../domain/versions.ts';
import { type StoredContent, toFileContent } from '../domain/content.ts';
import { renderCanonicalJson } from '../domain/json.ts';
import type { Environment } from '../domain/policy.ts';

export type ImportChoice = {
  readonly content: StoredContent;
  /** The pins in promotion order. */
  readonly pins: readonly NewPin[];
  /** The environments that serve a version but get no pin, because no portable pin can name that version. */
  readonly unpinned: readonly string[];
};

/**
 * Chooses the content and the pins so that the next plan is empty. `textEnvironment` provides the content. If it is
 * null, this is the first environment that serves a version, preferably one that allows `latest`. If it allows
 * `latest`, it is pinned to `latest`, so that it receives later edits of the file. Every other environment is pinned to
 * its active version. With portable pins, only environments that serve the content of the file are pinned. Returns null
 * if no environment can provide the content.
 * @param environments the environments to pin, in promotion order
 */
export function chooseImport(
  prompt: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  textEnvironment: string | null,
  portablePins: boolean,
): ImportChoice | null {
  const serving = listServing(prompt, environments);
  const textSource =
    textEnvironment === null
      ? (serving.find(({ allowLatest }) => allowLatest) ?? serving[0])
      : serving.find(({ name }) => name === textEnvironment);
  if (textSource === undefined) return null;
  if (portablePins) {
    const { content } = textSource;
    const portable = listPortablePins(prompt, environments, content);
    const pinned = new Set(portable.map(({ environment }) => environment));
    const unpinned = serving.map(({ name }) => name).filter((name) => !pinned.has(name));
    return { content, pins: portable, unpinned };
  }
  const pins = serving.map(({ name, allowLatest, pin }) => ({
    environment: name,
    ...(name === textSource.name && allowLatest ? { value: 'latest', comment: '' } : pin),
  }));
  return { content: textSource.content, pins, unpinned: [] };
}

type ServingEnvironment = Environment & Omit<EnvironmentContent, 'environment'> & { readonly pin: WrittenPin };

/** Returns the environments that serve a version whose content is known, in the given order. */
function listServing(
  { active }: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
): readonly ServingEnvironment[] {
  return environments.flatMap((environment): readonly ServingEnvironment[] => {
    const version = active.get(environment.name) ?? null;
    if (version === null || version.content === null) return [];
    return [{ ...environment, number: version.number, content: version.content, pin: makeWrittenPin(version) }];
  });
}

export type EnvironmentContent = {
  readonly environment: string;
  readonly number: number;
  readonly content: StoredContent;
};

export function listServedPins(
  prompt: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
): readonly NewPin[] {
  return listServing(prompt, environments).map(({ name, pin }) => ({ environment: name, ...pin }));
}

/**
 * Before the file is committed, no pin other than `latest` means the same in every service. The metadata must be equal,
 * too, because the next edit of the file would otherwise replace metadata that is not in git.
 */
export function listPortablePins(
  prompt: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  fileContent: StoredContent,
): readonly NewPin[] {
  const fileKey = makeFileContentKey(fileContent);
  return listServing(prompt, environments)
    .filter(({ allowLatest, content }) => allowLatest && makeFileContentKey(content) === fileKey)
    .map(({ name }) => ({ environment: name, value: 'latest', comment: '' }));
}

/** Lists the contents that a new file does not hold, starting with the last environment in promotion order. */
export function listOtherServedContents(
  prompt: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  fileContent: StoredContent,
): readonly EnvironmentContent[] {
  const serving = listServing(prompt, environments);
  const byKey = new Map<string, EnvironmentContent>();
  for (const { name: environment, number, content } of serving.toReversed()) {
    const key = makeFileContentKey(content);
    if (!byKey.has(key)) byKey.set(key, { environment, number, content });
  }
  byKey.delete(makeFileContentKey(fileContent));
  return [...byKey.values()];
}

/** Contents have the same key if a prompt file would hold the same text and metadata for both. */
function makeFileContentKey(content: StoredContent): string {
  const { type, text, metadata = {} } = toFileContent(content);
  return renderCanonicalJson([type, text, metadata]);
}
