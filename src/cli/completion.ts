import type { Flags } from './flags.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

type CompletableCommand = { readonly name: string; readonly flags: Flags };

/** The long flags of each command, by its name. */
type WordsByFlag = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the script that completes commands and flags in a shell, and files everywhere else. The script contains only
 * words of promptsync and starts no program, so pressing Tab never runs what the user typed.
 */
export function renderCompletionScript(shell: Shell, commands: readonly CompletableCommand[]): string {
  const flags = commands.map(({ name, flags }) => [name, [...listLongNames(flags), '--help']] as const);
  const names = [...commands.map(({ name }) => name), 'help', '--version', '--help'];
  return SCRIPTS[shell](names, new Map(flags));
}

function listLongNames(flags: Flags): readonly string[] {
  return Object.values(flags).flatMap(({ long }) => long ?? []);
}

type Script = (names: readonly string[], flags: WordsByFlag) => string;

const bash: Script = (names, flags) => `# Completes promptsync in bash, and in zsh as bash does.
_promptsync() {
  local flags=''
  case \${COMP_WORDS[1]} in
${renderLines(flags, (name, words) => `    ${name}) flags='${words}' ;;`)}
  esac
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${names.join(' ')}' -- "$2"))
  elif [[ $2 == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$2"))
  fi
}
complete -o default -F _promptsync promptsync
`;

const SCRIPTS: Readonly<Record<Shell, Script>> = {
  bash,
  zsh: (names, flags) => `autoload -U +X bashcompinit && bashcompinit\n${bash(names, flags)}`,
  fish: (names, flags) => `# Completes promptsync in fish.
complete -c promptsync -n __fish_use_subcommand -f -a '${names.join(' ')}'
${renderLines(flags, (name, words) => `complete -c promptsync -n '__fish_seen_subcommand_from ${name}'${words.replaceAll(/(?:^| )--/g, ' -l ')}`)}
`,
};

function renderLines(flags: WordsByFlag, line: (name: string, words: string) => string): string {
  return [...flags].map(([name, words]) => line(name, words.join(' '))).join('\n');
}
