import { Help, type Argument, type Command, type Option } from 'commander';
import type { TypedLine } from './split-line.ts';

export type Candidate = { readonly value: string; readonly description: string };

/** What may stand under the cursor. */
export type Wanted = {
  /** Words that are known without looking at the workspace. */
  readonly candidates: readonly Candidate[];
  /** What else: what the shell knows, or names from the workspace. */
  readonly kind: Kind;
  /** `--format=`, where the value is in the same word as its flag; else empty. */
  readonly flag: string;
  /** As given with --config. */
  readonly config: string | undefined;
};

export type Kind = 'words' | 'files' | 'folders' | 'keys' | 'environments';

/**
 * What a value is, by the name it has in the help: `--config <file>`, `--to <env>`, `<key>`. So a flag that is
 * new is completed without anything else being told of it.
 */
const KINDS: Readonly<Record<string, Kind>> = {
  file: 'files',
  files: 'files',
  folder: 'folders',
  workspace: 'files',
  key: 'keys',
  keys: 'keys',
  'glob-or-key': 'keys',
  env: 'environments',
};

type Place = {
  readonly command: Command;
  /** How many arguments of the command there are before the cursor. */
  readonly arguments: number;
  /** The option whose value comes next. */
  readonly option: Option | null;
  /** Whether `--` came before: no word is an option any more. */
  readonly ended: boolean;
  readonly config: string | undefined;
};

/** What may stand under the cursor of a line, by the options and arguments that the program itself parses. */
export function findWanted(program: Command, { before, current }: TypedLine): Wanted {
  const start: Place = { command: program, arguments: 0, option: null, ended: false, config: undefined };
  const place = before.reduce(step, start);
  const { command, option, ended, config } = place;
  if (option !== null) return { ...valuesOf(option.argChoices, nameOf(option)), flag: '', config };
  const [flag = ''] = /^--[^=]+=/.exec(current) ?? [];
  const inline = ended ? undefined : optionOf(command, flag.slice(0, -1));
  if (inline !== undefined) return { ...valuesOf(inline.argChoices, nameOf(inline)), flag, config };
  if (current.startsWith('-') && !ended) return { candidates: flagsOf(command), kind: 'words', flag: '', config };
  return { ...positional(place), flag: '', config };
}

/** Walks over one word. */
function step(place: Place, word: string): Place {
  const { command, option, ended } = place;
  if (option !== null) return { ...place, option: null, config: configIn(option, word) ?? place.config };
  if (!ended && word === '--') return { ...place, ended: true };
  if (!ended && word.startsWith('-') && word !== '-') return stepOption(place, word);
  const next = place.arguments === 0 ? subcommandsOf(command).find((one) => one.name() === word) : undefined;
  // After it comes what it is to explain.
  if (next?.name() === 'help') return place;
  if (next !== undefined) return { ...place, command: next };
  return { ...place, arguments: place.arguments + 1 };
}

function stepOption(place: Place, word: string): Place {
  const [name = '', ...rest] = word.split('=');
  const option = optionOf(place.command, name);
  if (option === undefined) return place;
  if (rest.length > 0) return { ...place, config: configIn(option, rest.join('=')) ?? place.config };
  return { ...place, option: option.required ? option : null };
}

function configIn(option: Option, value: string): string | undefined {
  return option.long === '--config' ? value : undefined;
}

function positional({ command, arguments: count }: Place): Pick<Wanted, 'candidates' | 'kind'> {
  const commands = count === 0 ? subcommandsOf(command) : [];
  if (commands.length > 0) return { candidates: commands.map(toCandidate), kind: 'words' };
  const last = command.registeredArguments.at(-1);
  const argument: Argument | undefined =
    command.registeredArguments[count] ?? (last?.variadic === true ? last : undefined);
  return valuesOf(argument?.argChoices, argument?.name() ?? '');
}

function valuesOf(choices: readonly string[] | undefined, name: string): Pick<Wanted, 'candidates' | 'kind'> {
  if (choices !== undefined) return { candidates: choices.map((value) => ({ value, description: '' })), kind: 'words' };
  return { candidates: [], kind: Object.hasOwn(KINDS, name) ? (KINDS[name] ?? 'words') : 'words' };
}

/** `file` of `-c, --config <file>`. */
function nameOf({ flags }: Option): string {
  return /[<[]([^>\].]+)/.exec(flags)?.[1] ?? '';
}

function optionOf(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short, required, optional }) => {
    return name !== '' && (required || optional) && (long === name || short === name);
  });
}

function flagsOf(command: Command): readonly Candidate[] {
  return new Help().visibleOptions(command).map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    description,
  }));
}

function subcommandsOf(command: Command): readonly Command[] {
  return new Help().visibleCommands(command);
}

function toCandidate(command: Command): Candidate {
  return { value: command.name(), description: command.description() };
}
