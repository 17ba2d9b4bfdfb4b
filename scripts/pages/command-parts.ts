import { Help, type Argument, type Command, type Option } from 'commander';
import { EXIT_CODES } from '../../src/command-line/help-texts.ts';
import { makeProgram, type Handlers } from '../../src/command-line/program.ts';
import { code, sentence, table, type Parts } from './parts.ts';

/** Options that at least this many commands have are told of once. */
const SHARED = 6;

/** What pages tell of the command line: `commands`, `shared-flags` and `exit-codes`. */
export function commandParts(): Parts {
  // Nothing is parsed, so that nothing is handled.
  const program = makeProgram({} as Handlers, { out: () => {}, err: () => {} }, '');
  const commands = leavesOf(program);
  const shared = sharedOptions(commands);
  return {
    commands: commands.map((command) => commandSection(command, shared)).join('\n\n'),
    'shared-flags': optionTable(shared),
    'exit-codes': table(
      ['exit code', 'meaning'],
      EXIT_CODES.map(({ code, meaning }) => [`${code}`, sentence(meaning)]),
    ),
  };
}

/** Those that do something, and are not hidden: a command of commands does not. */
function leavesOf(command: Command): readonly Command[] {
  const visible = new Set(new Help().visibleCommands(command));
  const shown = command.commands.filter((one) => visible.has(one));
  return shown.flatMap((one) => (one.commands.length === 0 ? [one] : leavesOf(one)));
}

function sharedOptions(commands: readonly Command[]): readonly Option[] {
  const all = commands.flatMap(({ options }) => options);
  const first = all.filter((option, index) => all.findIndex((other) => isSame(option, other)) === index);
  return first.filter((option) => all.filter((other) => isSame(option, other)).length >= SHARED);
}

function isSame(one: Option, other: Option): boolean {
  return one.flags === other.flags && one.description === other.description;
}

function commandSection(command: Command, shared: readonly Option[]): string {
  const { options, registeredArguments } = command;
  const own = options.filter((option) => !shared.some((one) => isSame(one, option)));
  const further = options.filter((option) => shared.some((one) => isSame(one, option)));
  const name = fullName(command);
  return [
    `## ${name}`,
    sentence(command.description()),
    `\`\`\`text\n${name} ${command.usage()}\n\`\`\``,
    ...(registeredArguments.length === 0 ? [] : [argumentTable(registeredArguments)]),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...(further.length === 0 ? [] : [`[Shared flags](#shared-flags): ${further.map(shortFlag).join(', ')}.`]),
    ...textAfter(command),
  ].join('\n\n');
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function argumentTable(given: readonly Argument[]): string {
  const rows = given.map((argument) => {
    const dots = argument.variadic ? '...' : '';
    const name = argument.required ? `<${argument.name()}${dots}>` : `[${argument.name()}${dots}]`;
    const { meaning, default: value } = withoutDefault(argument.description);
    return [code(name), value, sentence(`${meaning}${choicesOf(argument)}`)];
  });
  return table(['argument', 'default', 'meaning'], rows);
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => {
    const { meaning, default: value } = withoutDefault(option.description);
    const required = option.mandatory ? 'required' : defaultOf(option);
    return [code(option.flags), value === '' ? required : value, sentence(`${meaning}${choicesOf(option)}`)];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function choicesOf({ argChoices }: Argument | Option): string {
  return argChoices === undefined ? '' : `: ${argChoices.map(code).join(', ')}`;
}

/** That a switch is off unless it is given goes without saying. */
function defaultOf({ defaultValue }: Option): string {
  return ['string', 'number'].includes(typeof defaultValue) ? code(String(defaultValue)) : '';
}

/** A default that is no value is told of in the description. */
function withoutDefault(description: string): { readonly meaning: string; readonly default: string } {
  const [, meaning = description, value = ''] = /^(.*) \(default: (.*)\)$/.exec(description) ?? [];
  return { meaning, default: value };
}

function shortFlag({ long, short }: Option): string {
  return code(long ?? short ?? '');
}

/** What the help says below the options. */
function textAfter(command: Command): readonly string[] {
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => void written.push(text) }).outputHelp();
  const [, ...after] = written;
  return after.map((text) => fenced(text.trim())).filter((text) => text !== '');
}

/** Lines that are set in are to be typed: as prose they would run into one, and `# …` would be a heading. */
function fenced(text: string): string {
  return text.replaceAll(/(?:^ {2}.*(?:\n|$))+/gm, (lines) => {
    const inner = lines.replaceAll(/^ {2}/gm, '').trimEnd();
    return `\n\`\`\`text\n${inner}\n\`\`\`\n`;
  });
}
