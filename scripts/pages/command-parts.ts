import type { Argument, Option } from 'commander';
import { SHARED_FLAGS } from '../../src/cli/flags.ts';
import { EXIT_CODES } from '../../src/cli/main.ts';
import { formatExamples } from '../../src/cli/command-examples.ts';
import { COMMAND_GROUPS, type CommandDefinition } from '../../src/cli/define-command.ts';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { sortFlags } from '../../src/cli/flag-groups.ts';
import { code, sentence, table, type Parts } from './parts.ts';

/** Makes the parts of pages about the command line: commands, their groups, shared flags and exit codes. */
export function makeCommandParts(): Parts {
  return {
    'command-groups': table(['group', 'commands'], COMMAND_GROUPS.map(renderGroup)),
    commands: COMMANDS.map(renderCommand).join('\n\n'),
    'shared-flags': renderOptions(sortFlags(Object.values(SHARED_FLAGS))),
    'exit-codes': table(
      ['exit code', 'meaning'],
      EXIT_CODES.map(({ code }) => [`${code}`, sentence(EXIT_CODE_MEANINGS[code])]),
    ),
  };
}

const EXIT_CODE_MEANINGS: Readonly<Record<(typeof EXIT_CODES)[number]['code'], string>> = {
  0: 'success: promptsync applied all changes, or there was nothing to do',
  1: 'the command could not run, and promptsync did not write anything. For example, a flag, a prompt file, or the configuration is invalid, the service is unreachable, or the service rejected the key',
  2: 'changes are pending. Only `bundle --check` and dry runs with `--exit-code` use this code',
  3: 'a guard blocked at least one prompt, and promptsync did not write the blocked prompts. The guards check drift, promotion order, `max_changes`, the expected plan, uncommitted files, unresolved pins, and whether the commit is merged, up to date, and reviewed. Dry runs report most guards, too',
  4: 'at least one prompt failed: promptsync could read other prompts but not this one, or it could not write the prompt completely. The report lists the calls that promptsync made, the calls that it did not make, and what to do next',
  130: 'the run was interrupted. The report shows how far it got',
};

/** Renders a row with links to the commands of a group. */
function renderGroup(group: (typeof COMMAND_GROUPS)[number]): readonly string[] {
  const names = COMMANDS.filter((row) => row.group === group).map(({ name }) => name);
  return [group, names.map((name) => `[${name}](#promptsync-${name})`).join(', ')];
}

function renderCommand({ name, help, argument, flags, after }: CommandDefinition): string {
  const sharedOptions = new Set<Option>(Object.values(SHARED_FLAGS));
  const sortedFlags = sortFlags(Object.values(flags));
  const ownFlags = sortedFlags.filter((flag) => !sharedOptions.has(flag));
  const sharedFlags = sortedFlags.filter((flag) => sharedOptions.has(flag));
  const usage = ['promptsync', name, '[options]', ...(argument === undefined ? [] : [renderArgumentName(argument)])];
  return [
    `## promptsync ${name}`,
    sentence(help),
    `\`\`\`text\n${usage.join(' ')}\n\`\`\``,
    ...(argument === undefined ? [] : [renderArgument(argument)]),
    ...(ownFlags.length === 0 ? [] : [renderOwnFlags(name, ownFlags)]),
    ...renderSharedFlags(sharedFlags),
    ...(after === undefined ? [] : [fenceIndentedLines(after.trim())]),
    fenceIndentedLines(formatExamples(name)),
  ].join('\n\n');
}

/** Renders a table of flags. If another command has all of these flags, renders a link to that command instead. */
function renderOwnFlags(name: string, flags: readonly Option[]): string {
  const other = COMMANDS.find((command) => command.name !== name && flags.every((flag) => hasFlag(command, flag)));
  if (other === undefined) return renderOptions(flags);
  return `Accepts the following flags, which work as they do in [${other.name}](#promptsync-${other.name}): ${flags.map(renderFlagName).join(', ')}.`;
}

function hasFlag({ flags }: CommandDefinition, flag: Option): boolean {
  return Object.values<Option>(flags).includes(flag);
}

function renderSharedFlags(flags: readonly Option[]): readonly string[] {
  if (flags.length === 0) return [];
  if (flags.length === Object.keys(SHARED_FLAGS).length) return ['All [shared flags](#shared-flags).'];
  return [`[Shared flags](#shared-flags): ${flags.map(renderFlagName).join(', ')}.`];
}

function renderArgumentName(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function renderArgument(argument: Argument): string {
  const { meaning, default: value } = splitDefault(argument.description);
  const row = [code(renderArgumentName(argument)), value, sentence(`${meaning}${renderChoices(argument)}`)];
  return table(['argument', 'default', 'meaning'], [row]);
}

function renderOptions(options: readonly Option[]): string {
  const rows = options.map((option) => {
    const { meaning, default: value } = splitDefault(option.description);
    return [
      code(option.flags),
      value === '' ? renderDefaultValue(option) : value,
      sentence(`${meaning}${renderChoices(option)}`),
    ];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function renderChoices({ argChoices }: Argument | Option): string {
  return argChoices === undefined ? '' : `: ${argChoices.map(code).join(', ')}`;
}

/** Returns the default value of an option. Empty for a switch, because readers know that a switch is off by default. */
function renderDefaultValue({ defaultValue }: Option): string {
  return ['string', 'number'].includes(typeof defaultValue) ? code(String(defaultValue)) : '';
}

/**
 * Separates the description of an option from its default value, or from the note that the option is required. A
 * default that is not a fixed value stays in the description.
 */
function splitDefault(description: string): { readonly meaning: string; readonly default: string } {
  const [, meaning = description, value, required = ''] =
    /^(.*) \((?:default: (.*)|(required))\)$/.exec(description) ?? [];
  return { meaning, default: value ?? required };
}

function renderFlagName({ long, short }: Option): string {
  return code(long ?? short ?? '');
}

/**
 * Puts indented lines, which are commands for users to type, into code blocks. As prose, Markdown would join the lines
 * and treat `# …` as a heading.
 */
function fenceIndentedLines(text: string): string {
  return text.replaceAll(/(?:^ {2}.*(?:\n|$))+/gm, (lines) => {
    const inner = lines.replaceAll(/^ {2}/gm, '').trimEnd();
    return `\n\`\`\`text\n${inner}\n\`\`\`\n`;
  });
}
