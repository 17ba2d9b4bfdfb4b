/** The commands of promptsync that do what the commands with these names do in other tools. */
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
  'promptsync never deletes a prompt in the service. To stop managing a prompt, delete its file: git rm prompts/greeting.md. See "Rename, move, remove" in docs/prompt-files.md.';

/**
 * Returns the hint for a command that other tools have and promptsync does not. Returns null for all other words.
 * commander suggests only commands with similar names.
 */
export function findForeignCommandHint(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (DELETE_COMMANDS.includes(name)) return DELETE_HINT;
  const counterpart = COUNTERPARTS.get(name);
  return counterpart === undefined ? null : `Did you mean ${counterpart}?`;
}
