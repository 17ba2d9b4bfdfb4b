import type { CommandDefinition } from './define-command.ts';
import { sortFlags } from './flag-groups.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The hidden command that prints the candidates for the word at the cursor. The completion scripts run it. */
export const COMPLETE_COMMAND = '__complete';

/**
 * Returns the completion script for a shell. On Tab, it runs the promptsync on PATH with `COMPLETE_COMMAND` and the
 * typed words. It never evaluates these words, so Tab does not execute text that the user typed. After `npx
 * promptsync`, it runs nothing and offers only its own commands and flags, because npx would run a program that the
 * files of the checked-out branch select. For the same reason, it ignores a promptsync in a relative folder on PATH.
 */
export function renderCompletionScript(shell: Shell, commands: readonly CommandDefinition[]): string {
  return SCRIPTS[shell](commands);
}

/** Returns the candidates for the first word after `promptsync`. */
export function listCommandWords(commands: readonly CommandDefinition[]): readonly string[] {
  return [...commands.map(({ name }) => name), 'help', '--version', '--help'];
}

export function listFlagWords({ flags }: Pick<CommandDefinition, 'flags'>): readonly string[] {
  return [...sortFlags(Object.values(flags)).flatMap(({ long }) => long ?? []), '--help'];
}

/** Works in bash, and in zsh through bashcompinit. */
const makeBashFunctions = (commands: readonly CommandDefinition[]): string => `_promptsync() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    [[ -n \${ZSH_VERSION-} || $candidate == "$2"* ]] && COMPREPLY+=("$candidate")
  done < <(_promptsync_candidates "$2")
}
_promptsync_candidates() {
  local at=1 program
  if [[ \${COMP_WORDS[0]##*/} == npx ]]; then
    [[ \${COMP_WORDS[1]} == --no || \${COMP_WORDS[1]} == --no-install ]] && at=2
    [[ $COMP_CWORD -gt $at && \${COMP_WORDS[$at]} == promptsync ]] || return 0
    [[ $COMP_CWORD -eq $((at + 1)) ]] && _promptsync_words && return 0
    [[ $1 == -* ]] && _promptsync_words "\${COMP_WORDS[$((at + 1))]}"
    return 0
  fi
  program=$(type -P promptsync 2>/dev/null || whence -p promptsync 2>/dev/null)
  [[ $program == /* ]] || return 0
  "$program" ${COMPLETE_COMMAND} "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null </dev/null
}
_promptsync_words() {
  case \${1-} in
    '') printf '%s\\n' ${listCommandWords(commands).join(' ')} ;;
${commands.map((definition) => `    ${definition.name}) printf '%s\\n' ${listFlagWords(definition).join(' ')} ;;`).join('\n')}
  esac
}
complete -o default -F _promptsync promptsync`;

const makeFishWords = (commands: readonly CommandDefinition[]): string => `function __promptsync_words
  switch "$argv[1]"
    case ''
      printf '%s\\n' ${listCommandWords(commands).join(' ')}
${commands.map((definition) => `    case ${definition.name}\n      printf '%s\\n' ${listFlagWords(definition).join(' ')}`).join('\n')}
  end
end`;

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CommandDefinition[]) => string>> = {
  bash: (commands) => `# Bash completion for promptsync.
${makeBashFunctions(commands)}
complete -p npx >/dev/null 2>&1 || complete -o default -F _promptsync npx
`,
  zsh: (commands) => `# Zsh completion for promptsync.
autoload -U +X bashcompinit && bashcompinit
${makeBashFunctions(commands)}
[[ -n \${_comps[npx]} ]] || complete -o default -F _promptsync npx
`,
  fish: (commands) => `# Fish completion for promptsync.
function __promptsync_complete
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l candidates
  set -l first $typed[1]
  set -e typed[1]
  if string match -qr '(^|/)npx$' -- $first
    contains -- "$typed[1]" --no --no-install; and set -e typed[1]
    if not set -q typed[2]
      set candidates (__promptsync_words)
    else if string match -q -- '-*' "$current"
      set candidates (__promptsync_words $typed[2])
    end
  else
    set -l program (command -s promptsync)
    if string match -q -- '/*' "$program"
      set candidates (command $program ${COMPLETE_COMMAND} $typed "$current" 2>/dev/null </dev/null)
    end
  end
  set -q candidates[1]; and printf '%s\\n' $candidates
  # Prompts can also be selected by path. bash and zsh offer files themselves if no candidate matches.
  if not set -q candidates[1]; or not string match -q -- "$current*" $candidates
    __fish_complete_path "$current"
  end
end
${makeFishWords(commands)}
function __promptsync_follows_npx
  set -l typed (commandline -opc)
  set -e typed[1]
  contains -- "$typed[1]" --no --no-install; and set -e typed[1]
  test "$typed[1]" = promptsync
end
complete -c promptsync -f -a '(__promptsync_complete)'
complete -c npx -n __promptsync_follows_npx -f -a '(__promptsync_complete)'
`,
};
