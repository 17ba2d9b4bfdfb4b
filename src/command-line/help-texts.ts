import { Help, type Option } from 'commander';

export const DESCRIPTION = `GitOps sync for LLM prompts.

Prompts are Markdown files in git; a hosted prompt service holds their versions.
promptsync compares the two and makes the service match the files.`;

export const EXAMPLES = `
Examples:
  promptsync init                        begin a workspace here
  promptsync import prm_greeting         take a prompt over from the service
  promptsync validate                    check the files, offline
  promptsync plan                        show what a sync would change
  promptsync sync                        apply it, after a question
  promptsync sync --yes --format json    apply it in a script
  promptsync promote greeting --to production --branch live
  promptsync blame greeting --environment production

Exit codes:
  0 nothing to do, or everything applied    1 it could not run; nothing was written
  2 changes are pending (with --exit-code)  3 refused by a guard
  4 at least one prompt failed              130 interrupted`;

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
