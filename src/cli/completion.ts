import type { Flags } from './flags.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

type CompletableCommand = { readonly name: string; readonly flags: Flags };

/** The long flags of each command, by the name of the command. */
type FlagsByCommand = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the completion script for a shell. It completes the commands and flags of promptsync, and file names in all
 * other places. The script contains only fixed words and starts no program, so pressing Tab never executes text that
 * the user typed.
 */
export function renderCompletionScript(shell: Shell, commands: readonly CompletableCommand[]): string {
  const flagsByCommand = commands.map(({ name, flags }) => [name, [...listLongNames(flags), '--help']] as const);
  const names = [...commands.map(({ name }) => name), 'help', '--version', '--help'];
  return SCRIPTS[shell](names, new Map(flagsByCommand));
}

function listLongNames(flags: Flags): readonly string[] {
  return Object.values(flags).flatMap(({ long }) => long ?? []);
}

/** Renders the completion script of one shell. */
type RenderScript = (names: readonly string[], flags: FlagsByCommand) => string;

const renderBashScript: RenderScript = (
  names,
  flags,
) => `# Completes promptsync in bash, and in zsh through bashcompinit.
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

const SCRIPTS: Readonly<Record<Shell, RenderScript>> = {
  bash: renderBashScript,
  zsh: (names, flags) => `autoload -U +X bashcompinit && bashcompinit\n${renderBashScript(names, flags)}`,
  fish: (names, flags) => `# Completes promptsync in fish.
complete -c promptsync -n __fish_use_subcommand -f -a '${names.join(' ')}'
${renderLines(flags, (name, words) => `complete -c promptsync -n '__fish_seen_subcommand_from ${name}'${words.replaceAll(/(?:^| )--/g, ' -l ')}`)}
`,
};

function renderLines(flags: FlagsByCommand, renderLine: (name: string, words: string) => string): string {
  return [...flags].map(([name, words]) => renderLine(name, words.join(' '))).join('\n');
}
