import type { Argument, Option } from 'commander';
import { SHARED_FLAGS } from '../../src/cli/flags.ts';
import { EXIT_CODES } from '../../src/cli/main.ts';
import { COMMANDS, type CommandRow } from '../../src/cli/command-table.ts';
import { code, sentence, table, type Parts } from './parts.ts';

/** What pages say of the command line: `commands`, `shared-flags` and `exit-codes`. */
export function commandParts(): Parts {
  return {
    commands: COMMANDS.map(commandSection).join('\n\n'),
    'shared-flags': optionTable(Object.values(SHARED_FLAGS)),
    'exit-codes': table(
      ['exit code', 'meaning'],
      EXIT_CODES.map(({ code }) => [`${code}`, sentence(MEANINGS[code])]),
    ),
  };
}

const MEANINGS: Readonly<Record<(typeof EXIT_CODES)[number]['code'], string>> = {
  0: 'in order: nothing to do, or everything applied',
  1: 'it could not run: usage, files or configuration, or no prompt could be observed (service unreachable, key refused). Nothing was written',
  2: 'only with `--exit-code` on a dry run: changes are pending',
  3: 'refused by a guard (drift, promotion order, `max_changes`, another plan than expected, files not committed, not merged, not the newest or not reviewed, a pin that cannot be resolved): the refused prompts were not written. Dry runs report guards alike',
  4: 'at least one prompt failed (could not be observed, or not wholly written) while others were handled: the report says which calls were made, which were not, and what to do',
  130: 'interrupted; the report says how far it got',
};

function commandSection({ name, help, argument, flags, after }: CommandRow): string {
  const shared = new Set<Option>(Object.values(SHARED_FLAGS));
  const own = Object.values(flags).filter((flag) => !shared.has(flag));
  const usage = ['promptsync', name, '[options]', ...(argument === undefined ? [] : [shown(argument)])];
  return [
    `## promptsync ${name}`,
    sentence(help),
    `\`\`\`text\n${usage.join(' ')}\n\`\`\``,
    ...(argument === undefined ? [] : [argumentTable(argument)]),
    ...(own.length === 0 ? [] : [flagsOf(name, own)]),
    ...sharedFlags(Object.values(flags).filter((flag) => shared.has(flag))),
    ...(after === undefined ? [] : [fenced(after.trim())]),
  ].join('\n\n');
}

/** Flags that another command has as well, all of them, are not explained again. */
function flagsOf(name: string, own: readonly Option[]): string {
  const whole = COMMANDS.find((other) => other.name !== name && own.every((flag) => hasFlag(other, flag)));
  if (whole === undefined) return optionTable(own);
  return `The flags of [${whole.name}](#promptsync-${whole.name}): ${own.map(shortFlag).join(', ')}.`;
}

function hasFlag({ flags }: CommandRow, flag: Option): boolean {
  return Object.values<Option>(flags).includes(flag);
}

function sharedFlags(given: readonly Option[]): readonly string[] {
  if (given.length === 0) return [];
  const all = given.length === Object.keys(SHARED_FLAGS).length;
  return [
    all ? 'All [shared flags](#shared-flags).' : `[Shared flags](#shared-flags): ${given.map(shortFlag).join(', ')}.`,
  ];
}

function shown(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function argumentTable(argument: Argument): string {
  const { meaning, default: value } = withoutDefault(argument.description);
  const row = [code(shown(argument)), value, sentence(`${meaning}${choicesOf(argument)}`)];
  return table(['argument', 'default', 'meaning'], [row]);
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

/** A default that is no value stands in the description. */
function withoutDefault(description: string): { readonly meaning: string; readonly default: string } {
  const [, meaning = description, value = ''] = /^(.*) \(default: (.*)\)$/.exec(description) ?? [];
  return { meaning, default: value };
}

function shortFlag({ long, short }: Option): string {
  return code(long ?? short ?? '');
}

/** Lines that are set in are to be typed: as prose they would run into one, and `# …` would be a heading. */
function fenced(text: string): string {
  return text.replaceAll(/(?:^ {2}.*(?:\n|$))+/gm, (lines) => {
    const inner = lines.replaceAll(/^ {2}/gm, '').trimEnd();
    return `\n\`\`\`text\n${inner}\n\`\`\`\n`;
  });
}
