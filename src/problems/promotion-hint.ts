import { makePromptCommand, quoteShellWord } from './catalog-entry.ts';

/** The evidence of a promotion that promptsync refuses. */
export type RefusedPromotion = {
  /** The environment that the version is promoted to. */
  environment: string;
  /** The source environment, which must serve the version first. */
  from: string;
  /** Whether another configuration manages the source environment. */
  isOtherSource: boolean;
  key: string;
  version: string;
  /** Whether the pin names a commit whose content has no version yet. */
  isNewFromCommit: boolean;
  /** The version that the source environment serves. Null if it serves none. */
  serves: string | null;
  /**
   * Whether the refused version is older or newer than the one that the source environment serves. A version that does
   * not exist yet is newer. Null if the source serves none, or if the number of the refused version is unknown.
   */
  age: 'older' | 'newer' | null;
  /** The version that the target environment serves. Null if it serves none. */
  current: string | null;
  /** An environment that already serves the version. Null if there is none. */
  liveIn: string | null;
  /** Whether the file pins the source environment. */
  sourcePinned: boolean;
  /** Whether a sync would make this version active in the source environment. */
  sourceComes: boolean;
  /** Whether the clone is shallow. A commit that it lacks may then allow the promotion. */
  isShallow: boolean;
};

/** Returns the hint with the command that takes the next step of a promotion, even if more steps must follow. */
export function makePromotionHint(e: RefusedPromotion): string {
  if (e.isShallow)
    return 'This clone is shallow, so promptsync cannot read all earlier commits. To fetch the full history, run `git fetch --unshallow`. In CI, set `fetch-depth: 0` for `actions/checkout` in GitHub Actions, or `GIT_DEPTH: 0` in GitLab CI. Then run the command again.';
  if (e.isOtherSource)
    return `First merge a commit that pins "${e.from}" to the content that you want in "${e.environment}". Then pin "${e.environment}" to the same content in a later commit. Pins to branches do not count, because branches move.`;
  if (e.isNewFromCommit && !e.sourceComes) {
    return `Pin "${e.from}" to the same commit as "${e.environment}", then run \`promptsync sync --environment ${quoteShellWord(e.from)}\`. After that, sync "${e.environment}". If you have already made this promotion in another service, check out the commit that made the promotion, and sync that commit with \`--any-commit\` before you sync the newest one.`;
  }
  // Without `--allow-older`, promote would leave the prompt alone.
  const makeStep = (from: string, to: string, isOlder = false) =>
    makePromptCommand(
      'promote',
      e.key,
      `--from ${quoteShellWord(from)} --to ${quoteShellWord(to)}${isOlder ? ' --allow-older' : ''}`,
    );
  const lastStep = makeStep(e.from, e.environment);
  if (e.liveIn !== null && e.liveIn !== e.environment) {
    return `Run \`${makeStep(e.liveIn, e.from, e.age === 'older')}\`, then sync. After that, run: \`${lastStep}\``;
  }
  if (e.sourceComes) {
    return `First run \`promptsync sync --environment ${quoteShellWord(e.from)}\`, then sync "${e.environment}".`;
  }
  if (e.serves !== null) {
    const step = makeStep(e.from, e.environment, e.age === 'newer');
    return `To promote the version that "${e.from}" serves (${e.serves}), run: \`${step}\``;
  }
  // A refused pin stops the whole prompt. While the file has this pin, a sync of all environments changes none of them.
  const first = e.sourcePinned ? '' : `Pin "${e.from}". `;
  const orPin = e.current === null ? '' : `, or pin "${e.environment}" to its active version (${e.current})`;
  return `${first}Remove the pin for "${e.environment}" from the file${orPin}. After the next sync, run: \`${lastStep}\``;
}
