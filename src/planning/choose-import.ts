import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { makeWrittenPin, type NewPin, type WrittenPin } from '../domain/versions.ts';
import { type StoredContent, toFileContent } from '../domain/content.ts';
import { renderCanonicalJson } from '../domain/json.ts';
import type { Environment } from '../domain/policy.ts';

/** The content and the pins of a new prompt file. */
export type ImportChoice = {
  readonly content: StoredContent;
  /** The pins in promotion order. There is one for each environment that serves a version. */
  readonly pins: readonly NewPin[];
};

/**
 * Chooses the content and the pins of a new file so that the next plan is empty. One environment provides the content.
 * If that environment allows `latest`, it is pinned to `latest`, so that it receives later edits of the file. Every
 * other environment is pinned to its active version. Returns null if no environment can provide the content.
 * @param environments the environments to pin, in promotion order
 * @param textEnvironment the environment that provides the content. If it is null, promptsync uses the first
 *   environment that serves a version and allows `latest`. If there is none, it uses the first environment that serves
 *   a version.
 */
export function chooseImport(
  prompt: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  textEnvironment: string | null,
): ImportChoice | null {
  const serving = listServing(prompt, environments);
  const textSource =
    textEnvironment === null
      ? (serving.find(({ allowLatest }) => allowLatest) ?? serving[0])
      : serving.find(({ name }) => name === textEnvironment);
  if (textSource === undefined) return null;
  const pins = serving.map(({ name, allowLatest, pin }) => ({
    environment: name,
    ...(name === textSource.name && allowLatest ? { value: 'latest', comment: '' } : pin),
  }));
  return { content: textSource.content, pins };
}

/** An environment that serves a version, with the content and the pin of that version. */
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

/** The content of a version that an environment serves. */
export type EnvironmentContent = {
  readonly environment: string;
  /** The number of the version. */
  readonly number: number;
  readonly content: StoredContent;
};

/**
 * The contents that environments serve but a new file does not hold, and the pins for a file that holds one of these
 * contents.
 */
export type OtherServedContents = {
  /** One entry for each distinct content, starting with the last environment in promotion order. */
  readonly contents: readonly EnvironmentContent[];
  /** Pins each environment to the version that it serves, in promotion order. */
  readonly pins: readonly NewPin[];
};

/**
 * Lists the contents that environments serve but a new file does not hold. Two contents are equal if a prompt file would
 * hold the same text and metadata for both.
 * @param environments the environments to pin, in promotion order
 * @param fileContent the content of the new file
 */
export function listOtherServedContents(
  prompt: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  fileContent: StoredContent,
): OtherServedContents {
  const serving = listServing(prompt, environments);
  const byKey = new Map<string, EnvironmentContent>();
  for (const { name: environment, number, content } of serving.toReversed()) {
    const key = makeFileContentKey(content);
    if (!byKey.has(key)) byKey.set(key, { environment, number, content });
  }
  byKey.delete(makeFileContentKey(fileContent));
  const pins = serving.map(({ name, pin }) => ({ environment: name, ...pin }));
  return { contents: [...byKey.values()], pins };
}

/**
 * Returns a key of a content for comparisons. Contents with the same type, text and metadata have the same key, because
 * a prompt file would hold the same for them.
 */
function makeFileContentKey(content: StoredContent): string {
  const { type, text, metadata = {} } = toFileContent(content);
  return renderCanonicalJson([type, text, metadata]);
}
