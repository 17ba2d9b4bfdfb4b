/** Commands of other tools, each with the promptsync command that does the same. */
const COUNTERPARTS: ReadonlyMap<string, string> = new Map([
  ['apply', 'sync'],
  ['check', 'validate'],
  ['create', 'new'],
  ['deploy', 'sync'],
  ['diff', 'plan'],
  ['fetch', 'pull'],
  ['lint', 'validate'],
  ['list', 'status'],
  ['log', 'history'],
  ['ls', 'status'],
  ['push', 'sync'],
  ['revert', 'rollback'],
]);

const DELETE_COMMANDS: readonly string[] = ['delete', 'remove', 'rm'];

const DELETE_HINT =
  'promptsync never deletes a prompt in the service. To stop managing a prompt, delete its file: git rm prompts/greeting.md. See "Retire a prompt" in docs/how-to/change-prompts.md.';

/** Returns a hint for a command of another tool. commander suggests only commands with similar names. */
export function findForeignCommandHint(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (DELETE_COMMANDS.includes(name)) return DELETE_HINT;
  const counterpart = COUNTERPARTS.get(name);
  return counterpart === undefined ? null : `Did you mean ${counterpart}?`;
}
