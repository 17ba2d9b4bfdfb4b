import type { Ask } from './ask.ts';

/** What a repository is like. */
export type Place = {
  /** Absolute: where git keeps its own, the same for all work trees. */
  readonly commonDir: string;
  readonly shallow: boolean;
  /** The commit that is checked out; null before the first one. */
  readonly head: string | null;
};

/** Asked all at once. Throws a `ProblemError` outside of a repository. */
export async function placeOf(ask: Ask): Promise<Place> {
  const commonDir = ['--path-format=absolute', '--git-common-dir'];
  const said = await ask('rev-parse', '--is-shallow-repository', ...commonDir, '--revs-only', 'HEAD');
  const [, shallow, common = '', head = null] = ANSWER.exec(said) ?? [];
  return { commonDir: common, shallow: shallow === 'true', head };
}

/** Folders may have a line feed in their names. */
const ANSWER = /^(true|false)\n(.+?)\n(?:([0-9a-f]{40,64})\n)?$/s;
