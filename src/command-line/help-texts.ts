import { Help, type Option } from 'commander';

export const DESCRIPTION = `GitOps sync for LLM prompts.

Prompts are Markdown files in git; a hosted prompt service holds their versions.
promptsync compares the two and makes the service match the files.`;

/** What the process ends with, the same in every format; `meaning` is for docs/commands.md. */
export const EXIT_CODES = [
  {
    code: 0,
    short: 'nothing to do, or everything applied',
    meaning: 'in order: nothing to do, or everything applied',
  },
  {
    code: 1,
    short: 'it could not run; nothing was written',
    meaning:
      'it could not run: usage, files or configuration, or no prompt could be observed (service unreachable, key refused). Nothing was written',
  },
  {
    code: 2,
    short: 'changes are pending (with --exit-code)',
    meaning: 'only with `--exit-code` on a dry run: changes are pending',
  },
  {
    code: 3,
    short: 'refused by a guard',
    meaning:
      'refused by a guard (drift, promotion order, `max_changes`, another plan than expected, uncommitted files, a pin that cannot be resolved): the refused prompts were not written. Dry runs report guards alike',
  },
  {
    code: 4,
    short: 'at least one prompt failed',
    meaning:
      'at least one prompt failed (could not be observed, or not wholly written) while others were handled: the report says which calls were made, which were not, and what to do',
  },
  { code: 130, short: 'interrupted', meaning: 'interrupted; the report says how far it got' },
] as const;

export const EXAMPLES = `
Examples:
  promptsync init                        begin a workspace here
  promptsync import prm_greeting         take a prompt over from the service
  promptsync validate                    check the files, offline
  promptsync plan                        show what a sync would change
  promptsync sync                        apply it, after a question
  promptsync sync --yes --format json    apply it in a script
  promptsync promote support/greeting --to production --branch live
  promptsync history support/greeting --environment production

Exit codes:
${inTwoColumns(EXIT_CODES.map(({ code, short }) => `${code} ${short}`))}`;

export const SERVE_HELP = `
The API key that it accepts is the value of PROMPTSYNC_API_KEY; without one it is "embedded".`;

export const HISTORY_HELP = `
Dates are those of commits. A version is made from the commit that last changed its
file, and pinned by the commit that changed the pin on the branch checked out here.
Ids of versions are told by --environment, --format json and --format markdown.`;

export const COMPLETION_HELP = `
To install it, once:
  bash  echo 'source <(promptsync completion bash)' >> ~/.bashrc
  zsh   echo 'source <(promptsync completion zsh)' >> ~/.zshrc    after compinit
  fish  promptsync completion fish > ~/.config/fish/completions/promptsync.fish`;

export const SCHEMA_HELP = `
The first line of promptsync.yaml tells editors where its schema is. Without the
package in node_modules:
  promptsync schema config > promptsync.schema.json
  # yaml-language-server: $schema=promptsync.schema.json`;

/** That a switch is off unless it is given goes without saying. */
export function describe(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (false|\[\])\)$/, '');
}

function inTwoColumns(entries: readonly string[]): string {
  const lines = entries.flatMap((left, index) =>
    index % 2 === 0 ? [`  ${left.padEnd(42)}${entries[index + 1] ?? ''}`.trimEnd()] : [],
  );
  return lines.join('\n');
}
