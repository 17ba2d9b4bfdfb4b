import type { Option } from 'commander';

/**
 * The groups of flags and the attribute names of their flags, in the order in which the help lists them. All other
 * flags belong to a single command. They come first, without a group.
 */
export const FLAG_GROUPS = {
  Selection: ['all', 'only', 'changedSince', 'config'],
  Output: ['format', 'output', 'exitCode', 'color', 'quiet', 'verbose'],
  Safety: ['dryRun', 'yes', 'expectPlan', 'maxChanges', 'onDrift', 'allowDirty', 'anyCommit', 'force'],
  Git: ['base', 'offline', 'commit', 'branch'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const GROUPED_NAMES: readonly string[] = Object.values(FLAG_GROUPS).flat();

/** Returns flags in the order in which the help lists them. */
export function sortFlags(flags: readonly Option[]): readonly Option[] {
  const rankOf = (flag: Option) => GROUPED_NAMES.indexOf(flag.attributeName());
  return flags.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns the group of a flag. Undefined if the flag belongs to a single command. */
export function findFlagGroup(flag: Option): string | undefined {
  const name = flag.attributeName();
  return Object.entries<readonly string[]>(FLAG_GROUPS).find(([, names]) => names.includes(name))?.[0];
}
