export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The hidden command that prints the candidates for the word at the cursor. The completion scripts run it. */
export const COMPLETE_COMMAND = '__complete';

/**
 * Returns the completion script for a shell. On Tab, the script runs promptsync with `COMPLETE_COMMAND` and passes the
 * typed words as arguments. The script never evaluates these words, so Tab does not execute text that the user typed.
 *
 * After `npx promptsync` and `npx --no-install promptsync`, the script runs the promptsync that npx would run. `--no --offline` keeps npx from installing
 * anything and from sending requests.
 */
export function renderCompletionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

/** Works in bash, and in zsh through bashcompinit. */
const BASH_FUNCTION = `_promptsync() {
  local candidate
  local -a program=(promptsync) typed=("\${COMP_WORDS[@]:1:$COMP_CWORD}")
  COMPREPLY=()
  if [[ \${COMP_WORDS[0]##*/} == npx ]]; then
    local at=1
    [[ \${COMP_WORDS[1]} == --no || \${COMP_WORDS[1]} == --no-install ]] && at=2
    [[ $COMP_CWORD -gt $at && \${COMP_WORDS[$at]} == promptsync ]] || return 0
    program=(npx --no --offline promptsync)
    typed=("\${COMP_WORDS[@]:$((at + 1)):$((COMP_CWORD - at))}")
  fi
  while IFS= read -r candidate; do
    [[ -n \${ZSH_VERSION-} || $candidate == "$2"* ]] && COMPREPLY+=("$candidate")
  done < <("\${program[@]}" ${COMPLETE_COMMAND} "\${typed[@]}" 2>/dev/null </dev/null)
}
complete -o default -F _promptsync promptsync`;

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Bash completion for promptsync.
${BASH_FUNCTION}
complete -p npx >/dev/null 2>&1 || complete -o default -F _promptsync npx
`,
  zsh: `# Zsh completion for promptsync.
autoload -U +X bashcompinit && bashcompinit
${BASH_FUNCTION}
[[ -n \${_comps[npx]} ]] || complete -o default -F _promptsync npx
`,
  fish: `# Fish completion for promptsync.
function __promptsync_complete
  set -l program promptsync
  set -l typed (commandline -opc)
  if string match -qr '(^|/)npx$' -- $typed[1]
    set program npx --no --offline promptsync
    set -e typed[1]
    contains -- $typed[1] --no --no-install; and set -e typed[1]
  end
  set -e typed[1]
  set -l current (commandline -ct)
  set -l candidates (command $program ${COMPLETE_COMMAND} $typed "$current" 2>/dev/null </dev/null)
  set -q candidates[1]; and printf '%s\\n' $candidates
  # Prompts can also be selected by path. bash and zsh offer files themselves if no candidate matches.
  if not set -q candidates[1]; or not string match -q -- "$current*" $candidates
    __fish_complete_path "$current"
  end
end
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
