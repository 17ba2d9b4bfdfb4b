import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { makeWrittenPin, type WrittenPin } from '../domain/versions.ts';
import type { StoredContent } from '../domain/content.ts';
import type { Environment } from '../domain/policy.ts';

/** The content and the pins of a new prompt file. */
export type ImportChoice = {
  readonly content: StoredContent;
  /** In promotion order. It contains only environments that serve a version. */
  readonly pins: readonly ({ readonly environment: string } & WrittenPin)[];
};

/**
 * Chooses the content and the pins of a new file so that the next plan is empty. One environment provides the text. It
 * is pinned to `latest`, so that later edits of the file go there. Every other environment is pinned to its active
 * version. Returns null if no environment serves a version.
 * @param environments the environments to pin, in promotion order
 * @param wanted the environment that provides the text; null: the first that serves a version and may be pinned to `latest`
 */
export function chooseImport(
  { active }: Pick<ObservedPrompt, 'active'>,
  environments: readonly Environment[],
  wanted: string | null,
): ImportChoice | null {
  const serving = environments.flatMap((environment) => {
    const version = active.get(environment.name) ?? null;
    return version?.content ? [{ ...environment, pin: makeWrittenPin(version), content: version.content }] : [];
  });
  const own =
    wanted === null
      ? (serving.find(({ allowLatest }) => allowLatest) ?? serving[0])
      : serving.find(({ name }) => name === wanted);
  if (own === undefined) return null;
  const pins = serving.map(({ name, allowLatest, pin }) => ({
    environment: name,
    ...(name === own.name && allowLatest ? { value: 'latest', comment: '' } : pin),
  }));
  return { content: own.content, pins };
}
