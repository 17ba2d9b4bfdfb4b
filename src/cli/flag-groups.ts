import type { Option } from 'commander';

/** The groups of shared flags, by attribute name, in the order of the help. All other flags come before them. */
export const FLAG_GROUPS = {
  Selection: ['all', 'only', 'changedSince', 'config'],
  Output: ['format', 'output', 'check', 'exitCode', 'diff', 'color', 'quiet', 'verbose'],
  Safety: ['dryRun', 'yes', 'expectPlan', 'maxChanges', 'onDrift', 'allowDirty', 'anyCommit', 'allowOlder', 'force'],
  Git: ['base', 'offline', 'commit', 'branch'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const GROUPED_NAMES: readonly string[] = Object.values(FLAG_GROUPS).flat();

/** Returns flags in the order in which the help lists them. */
export function sortFlags(flags: readonly Option[]): readonly Option[] {
  const rankOf = (flag: Option) => GROUPED_NAMES.indexOf(flag.attributeName());
  return flags.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns the group of a flag, or undefined if the flag belongs to a single command. */
export function findFlagGroup(flag: Option): string | undefined {
  const name = flag.attributeName();
  return Object.entries<readonly string[]>(FLAG_GROUPS).find(([, names]) => names.includes(name))?.[0];
}
