import type { Argument, Option } from 'commander';
import type { CompletionKind, CompletionOptions } from '../commands/complete.ts';
import { showHidden } from '../text.ts';
import type { CommandDefinition } from './define-command.ts';
import { COMMANDS } from './command-table.ts';
import { listCommandWords, listFlagWords } from './completion.ts';
import { sortFlags } from './flag-groups.ts';
import type { SafeProcess } from './process-interface.ts';
import { makeSystem } from './make-system.ts';

/** Prints one candidate per line. Prints no errors, which would end up in the command line. Always resolves to 0. */
export async function runComplete(words: readonly string[], host: SafeProcess): Promise<number> {
  // The command writes nothing, so the first Ctrl-C may end it.
  host.onSignal(() => host.exit(130));
  const candidates = await listCandidates(words, host).catch(() => []);
  host.output.write(candidates.map((candidate) => `${candidate}\n`).join(''));
  return 0;
}

async function listCandidates(words: readonly string[], host: SafeProcess): Promise<readonly string[]> {
  // bash splits `--format=json` into three words.
  const typed = words.slice(0, -1).filter((word) => word !== '=');
  const current = words.at(-1)?.replace(/^=$/, '') ?? '';
  const [name, ...before] = typed;
  if (name === undefined) return listCommandWords(COMMANDS);
  if (name === 'help' && before.length === 0) return COMMANDS.map((definition) => definition.name);
  const definition = COMMANDS.find((command) => command.name === name);
  return definition === undefined ? [] : listCandidatesOf(definition, before, current, host);
}

/** `before` contains the words between the name of the command and the current word. */
async function listCandidatesOf(
  { flags, argument }: CommandDefinition,
  before: readonly string[],
  current: string,
  host: SafeProcess,
): Promise<readonly string[]> {
  const options = sortFlags(Object.values(flags));
  const values = (source: Argument | Option | undefined) =>
    source === undefined ? [] : listValues(source, { config: findConfigPath(before) }, host);
  // zsh and fish pass `--format=json` as one word.
  const [, inlineFlag] = /^(--[a-z-]+)=/.exec(current) ?? [];
  if (inlineFlag !== undefined) {
    const flag = findFlagWithValue(options, inlineFlag);
    return (await values(flag)).map((value) => `${inlineFlag}=${value}`);
  }
  const flag = findFlagWithValue(options, before.at(-1) ?? '');
  if (flag !== undefined) return values(flag);
  if (current.startsWith('-')) return listFlagWords({ flags });
  return values(argument);
}

function findFlagWithValue(options: readonly Option[], word: string): Option | undefined {
  return options.find(({ required, long, short }) => required && (word === long || word === short));
}

function findConfigPath(words: readonly string[]): string | undefined {
  const index = words.findLastIndex((word) => word === '-c' || word === '--config');
  return index === -1 ? undefined : words[index + 1];
}

/** The values to list for each placeholder, such as `<env>`. Other placeholders stand for file names or text. */
const KINDS_BY_PLACEHOLDER: ReadonlyMap<string, CompletionKind> = new Map([
  ['keys', 'keys'],
  ['glob-or-key', 'keys'],
  ['env', 'environments'],
  ['ref', 'refs'],
  ['branch', 'branches'],
]);

async function listValues(
  source: Argument | Option,
  options: CompletionOptions,
  host: SafeProcess,
): Promise<readonly string[]> {
  if (source.argChoices !== undefined) return source.argChoices;
  const placeholder = 'flags' in source ? /<(.+)>/.exec(source.flags)?.[1] : source.name();
  const kind = KINDS_BY_PLACEHOLDER.get(placeholder ?? '');
  if (kind === undefined) return [];
  const { listCompletionValues } = await import('../commands/complete.ts');
  const values = await listCompletionValues(kind, options, makeSystem(host, { quiet: true, onInterrupt: '' }));
  return values.filter(isPlainWord);
}

/**
 * Returns true if every shell takes a word literally, without quotes. Strangers choose the names of prompts and
 * branches, and bash inserts candidates unchanged. bash also splits words at `:`, `=` and `@`.
 */
function isPlainWord(word: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}_./+-]*$/u.test(word) && showHidden(word) === word;
}
