import type { Observed } from '../domain/observed.ts';
import { type HeldContent, pinTo, type WrittenPin } from '../domain/versions.ts';
import type { Environment } from '../domain/policy.ts';

/** What a new file is made of: a text with its metadata, and what it pins. */
export type Chosen = {
  readonly content: HeldContent;
  /** In promotion order; only what something is active in. */
  readonly pins: readonly ({ readonly environment: string } & WrittenPin)[];
};

/**
 * Chooses what a new file takes from a prompt, so that the next plan is empty. The file's own environment is pinned to
 * `latest`, so that editing the file goes on from there; every other to the version that is active. Null where nothing
 * is active that the text could come from.
 * @param environments those to pin, in promotion order
 * @param wanted the file's own environment; null: the first that serves something and may follow the file
 */
export function chooseImport(
  { active }: Pick<Observed, 'active'>,
  environments: readonly Environment[],
  wanted: string | null,
): Chosen | null {
  const serving = environments.flatMap((environment) => {
    const version = active.get(environment.name) ?? null;
    return version?.content ? [{ ...environment, pin: pinTo(version), content: version.content }] : [];
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
