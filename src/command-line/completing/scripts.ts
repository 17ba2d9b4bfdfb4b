import type { Host } from '../host.ts';
import type { Shell } from './answer.ts';

/** Prints the script that makes a shell ask this program. */
export function printScript(shell: Shell, host: Host): void {
  host.output.write(SCRIPTS[shell]);
}

/*
 * All that is completed is decided in find-wanted.ts, from the options that are parsed, so that a script is as good for the
 * next version. @bomb.sh/tab 0.0.22 was tried in place of these three: its script for bash hands the line that was typed to
 * `eval` and the candidates to `compgen -W`, so that a press of the key runs what a prompt's key holds in `$(…)`; it knows
 * neither file names nor what quotes are. In these nothing is evaluated: what was typed goes to the program as one
 * argument, and what it answers is only ever read, line by line.
 */

/** Readline itself completes file names, where they are wanted: it also quotes them. Before bash 4 it cannot be told to. */
const BASH = `# Completes promptsync in bash.
_promptsync() {
  local kind='' line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <(promptsync complete bash -- "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
  case $kind in
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
  esac
}
complete -F _promptsync promptsync
`;

/** Of a value in the word of its flag, such as --config=FILE, only the value is completed. */
const ZSH = `#compdef promptsync
# Completes promptsync in zsh.
_promptsync() {
  local kind line tab=$'\\t'
  local -a lines candidates
  lines=("\${(@f)$(promptsync complete zsh -- "\${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" 2>/dev/null)}")
  kind=$lines[1]
  [[ $PREFIX == --*=* ]] && compset -P 1 '*='
  case $kind in
    files) _files; return ;;
    folders) _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    # A colon is what comes before a description.
    line=\${\${line//\\\\/\\\\\\\\}//:/\\\\:}
    candidates+=("\${line/$tab/:}")
  done
  _describe -t promptsync promptsync candidates
}
if [[ $funcstack[1] == _promptsync ]]; then _promptsync "$@"; else compdef _promptsync promptsync; fi
`;

const FISH = `# Completes promptsync in fish.
function __promptsync_complete
    set -l line (commandline -cp | string collect)
    set -l lines (promptsync complete fish -- "$line" 2>/dev/null)
    set -l flag (string match -r -- '^(?:--[^=]+=)?' (commandline -ct))
    set -l value (string replace -r -- '^--[^=]+=' '' (commandline -ct))
    switch "$lines[1]"
        case files
            set lines '' $flag(__fish_complete_path "$value")
        case folders
            set lines '' $flag(__fish_complete_directories "$value" '')
    end
    for line in $lines[2..-1]
        printf '%s\\n' $line
    end
end
complete -c promptsync -f -a '(__promptsync_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
