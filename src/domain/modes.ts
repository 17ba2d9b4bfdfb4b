/** The commands whose work is files of the repository; they never write to the service. */
export const FILE_MODES = ['init', 'import', 'pull', 'promote', 'rollback'] as const;

/** What a report is of: `dry-run` and `apply` are a sync, all others are called as their commands. */
export const MODES = ['dry-run', 'apply', 'validate', 'status', 'history', ...FILE_MODES] as const;
