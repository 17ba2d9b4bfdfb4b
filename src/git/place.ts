import type { Ask } from './ask.ts';

/** Where a folder stands. */
export type Place = {
  /** From the repository's root to the folder, with a slash at its end; empty at the root. */
  readonly prefix: string;
  /** Absolute: where git keeps its own, the same for all work trees. */
  readonly commonDir: string;
  readonly shallow: boolean;
  /** The commit that is checked out; null before the first one. */
  readonly head: string | null;
};

const COMMON_DIR = ['--path-format=absolute', '--git-common-dir'] as const;

/** Asked all at once. Throws a `ProblemError` outside of a repository. */
export async function placeOf(ask: Ask): Promise<Place> {
  const said = await ask('rev-parse', '--is-shallow-repository', '--show-prefix', ...COMMON_DIR, '--revs-only', 'HEAD');
  const [, prefix, commonDir, head = null] = ANSWER.exec(said) ?? [];
  if (prefix === undefined || commonDir === undefined) return separately(ask, said);
  return { prefix, commonDir, shallow: isShallow(said), head };
}

const ANSWER = /^(?:true|false)\n([^\n]*)\n([^\n]+)\n(?:([0-9a-f]{40,64})\n)?$/;

/** Folders may have a line feed in their names: then each path is an answer of its own. */
async function separately(ask: Ask, said: string): Promise<Place> {
  const [prefix, commonDir] = await Promise.all([ask('rev-parse', '--show-prefix'), ask('rev-parse', ...COMMON_DIR)]);
  const [, head = null] = /\n([0-9a-f]{40,64})\n$/.exec(said) ?? [];
  return { prefix: line(prefix), commonDir: line(commonDir), shallow: isShallow(said), head };
}

function line(said: string): string {
  return said.replace(/\n$/, '');
}

function isShallow(said: string): boolean {
  return said.startsWith('true\n');
}
