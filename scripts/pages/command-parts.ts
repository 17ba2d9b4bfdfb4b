import type { Argument, Option } from 'commander';
import { SHARED_FLAGS } from '../../src/cli/flags.ts';
import { EXIT_CODES } from '../../src/cli/main.ts';
import { formatExamples } from '../../src/cli/command-examples.ts';
import { COMMAND_GROUPS, type CommandRow } from '../../src/cli/command-row.ts';
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
  0: 'success: there was nothing to do, or everything was applied',
  1: 'the command could not run. The usage, a file or the configuration is wrong, or promptsync could not observe any prompt (service unreachable, key refused). Nothing was written',
  2: 'changes are pending. Only a dry run with `--exit-code` and `bundle --check` use this code',
  3: 'a guard refused at least one prompt (drift, promotion order, `max_changes`, a plan that is not the expected one, a commit that is not merged, not the newest or not reviewed, uncommitted files, a pin that cannot be resolved). promptsync did not write the refused prompts. Dry runs report guards, too',
  4: 'at least one prompt failed, but others did not. promptsync could not observe the failed prompt, or could not write it completely. The report says which calls were made, which were not, and what to do',
  130: 'the run was interrupted. The report says how far the run got',
};

/** Renders a row with links to the commands of a group. */
function renderGroup(group: (typeof COMMAND_GROUPS)[number]): readonly string[] {
  const names = COMMANDS.filter((row) => row.group === group).map(({ name }) => name);
  return [group, names.map((name) => `[${name}](#promptsync-${name})`).join(', ')];
}

function renderCommand({ name, help, argument, flags, after }: CommandRow): string {
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
  return `The flags of [${other.name}](#promptsync-${other.name}): ${flags.map(renderFlagName).join(', ')}.`;
}

function hasFlag({ flags }: CommandRow, flag: Option): boolean {
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
