import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { makeWrittenPin, type NewPin } from '../domain/versions.ts';
import type { StoredContent } from '../domain/content.ts';
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
  { active }: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  textEnvironment: string | null,
): ImportChoice | null {
  const serving = environments.flatMap((environment) => {
    const version = active.get(environment.name) ?? null;
    return version?.content ? [{ ...environment, pin: makeWrittenPin(version), content: version.content }] : [];
  });
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
