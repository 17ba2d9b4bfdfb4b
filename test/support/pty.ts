import { execFileSync, spawnSync } from 'node:child_process';

/** Whether a program is on this machine. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** How an interactive shell is started, and told to complete with tab and to show its line on Ctrl-G. */
const SHELLS = {
  bash: {
    start: 'bash --norc --noprofile',
    begin: `shown() { echo "<<<$READLINE_LINE>>>"; }; bind 'set enable-bracketed-paste off'; bind -x '"\\C-g": shown'; source <(promptsync completion bash)`,
  },
  zsh: {
    start: 'zsh -f -i',
    begin: `autoload -Uz compinit && compinit -u -D; source <(promptsync completion zsh); shown() { print -r -- "<<<$BUFFER>>>" }; zle -N shown; bindkey '^I' complete-word '^G' shown`,
  },
} as const;

/** Types the arguments into a shell on a terminal of its own, which zsh has a module for; then a tab and Ctrl-G. */
const TYPE = `
zmodload zsh/zpty
zpty shell "TERM=dumb COLUMNS=500 PS1='> ' HISTFILE= $1"
zpty -w shell "$2; echo be''gun"
while zpty -r shell out; do [[ $out == *begun* && $out != *echo* ]] && break; done
zpty -w -n shell "$3"$'\\t\\a'
while zpty -r shell out; do print -r -- "$out"; [[ $out == *'>>>'* ]] && break; done
`;

/** What an interactive shell makes of a line when tab is pressed at its end. It needs zsh, whichever shell it is. */
export function completeOnTerminal(
  shell: keyof typeof SHELLS,
  line: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): string {
  const { start, begin } = SHELLS[shell];
  const output = execFileSync('zsh', ['-f', '-c', TYPE, 'zsh', start, begin, line], {
    ...{ cwd, env, encoding: 'utf8', timeout: 50_000 },
  });
  return /<<<(.*)>>>/.exec(output)?.[1] ?? output;
}
