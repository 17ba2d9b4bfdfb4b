import { escapeSelector, formatCount, formatNumber, joinCodeNames, joinNames, joinQuotedNames } from '../text.ts';
import { capitalize } from '../service-words.ts';
import {
  describeCharacter,
  makeSuggestionHint,
  quoteShellWord,
  defineError,
  type SpellingEvidence,
  defineWarning,
} from './catalog-entry.ts';

const FIELDS = joinCodeNames(
  ['id', 'key', 'name', 'type', 'description', 'pins', 'metadata', 'variables', 'accept_warnings'],
  'and',
);

type InvalidField = {
  field: string;
  /** The fault or the expected value, as a clause. */
  expected: string;
  /** What to write instead. Undefined if `expected` already says it. */
  fix?: string | undefined;
};

type VariablesMismatch = {
  missing: readonly string[];
  unused: readonly string[];
  repeated: readonly string[];
  /** The variables of the text as a YAML list, such as "[name, order]". */
  list: string;
};

export const FILE_PROBLEMS = {
  // Prompt files
  'prompt/none-found': defineError<{ patterns: readonly string[] }>(
    (e) => `No prompt file matches ${joinQuotedNames(e.patterns, 'or')}.`,
    'Fix the patterns under `prompts:` in `promptsync.yaml`, or add a prompt file that matches one of these patterns.',
  ),
  'prompt/others-invalid': defineWarning<{ count: number }>(
    (e) =>
      e.count === 1
        ? '1 prompt file has errors. promptsync ignored it because it is not selected.'
        : `${formatNumber(e.count)} prompt files have errors. promptsync ignored them because they are not selected.`,
    'To see the errors, run `promptsync validate`.',
  ),
  'prompt/unreadable': defineError<{ reason: string }>(
    (e) => `promptsync could not read the file (${e.reason}).`,
    'Check that the file exists and that you have permission to read it.',
  ),
  'prompt/symbolic-link': defineError(
    'This path is a symbolic link. promptsync does not read prompt files through symbolic links.',
    'Replace the symbolic link with the actual file or folder.',
  ),
  'prompt/too-large': defineError<{ bytes: number; limit: number }>(
    (e) => `The file is ${formatNumber(e.bytes)} bytes long, but the limit is ${formatNumber(e.limit)} bytes.`,
    'Shorten the prompt.',
  ),
  'prompt/not-decoded': defineError<{ filter: 'lfs' | 'git-crypt' }>(
    (e) =>
      e.filter === 'lfs'
        ? 'The file is a Git LFS pointer. It does not contain the prompt.'
        : 'The file is encrypted with git-crypt.',
    (e) =>
      e.filter === 'lfs'
        ? 'Run `git lfs pull`. In a GitHub workflow, set `lfs: true` for `actions/checkout`.'
        : 'Run `git-crypt unlock`.',
  ),
  'prompt/not-utf8': defineError('The file is not valid UTF-8.', 'Save the file as UTF-8.'),
  'prompt/nul': defineError(
    'The file contains a NUL character.',
    'Remove the NUL character. A prompt file must be plain text.',
  ),
  'prompt/conflict-markers': defineError<{
    /** Whether the file accepts conflict markers in its text. If so, the problem is only a warning. */
    isAccepted: boolean;
  }>(
    (e) =>
      e.isAccepted
        ? 'The prompt text contains merge conflict markers, which `accept_warnings` in this file allows.'
        : 'The file contains unresolved merge conflict markers.',
    (e) =>
      e.isAccepted
        ? 'Make sure that the markers are part of the prompt and are not left over from a merge.'
        : 'Resolve the conflict, and remove the conflict markers (the lines that begin with `<<<<<<<`, `|||||||`, `=======`, or `>>>>>>>`). To undo a merge that is in progress, run `git merge --abort`. If the prompt text must contain such lines, for example to teach a model to write them, add `accept_warnings: [prompt/conflict-markers]` to the front matter of this file.',
  ),
  'prompt/no-front-matter': defineError<{
    path: string;
    /** Whether only white space or invisible characters precede the opening delimiter. */
    isPreceded: boolean;
  }>('The file does not begin with front matter.', (e) =>
    e.isPreceded
      ? 'Remove everything before the first `---`, including blank lines, spaces, and invisible characters.'
      : `Begin the file with a \`---\` line, the fields of the prompt, and another \`---\` line. If the file is not a prompt, add \`'!${escapeSelector(e.path)}'\` to \`prompts:\` in \`promptsync.yaml\` to exclude the file.`,
  ),
  'prompt/bad-delimiter': defineError<{ line: string }>(
    (e) => `The line "${e.line}" is not a valid front matter delimiter.`,
    'Change the line to `---`, with nothing before or after it. promptsync always reads front matter as YAML and never executes it.',
  ),
  'prompt/unclosed-front-matter': defineError(
    'The front matter has no closing `---` line.',
    'Add a line that contains only `---` between the front matter and the prompt text.',
  ),
  'prompt/front-matter-too-large': defineError<{ bytes: number; limit: number }>(
    (e) => `The front matter is ${formatNumber(e.bytes)} bytes long, but the limit is ${formatNumber(e.limit)} bytes.`,
    'Shorten the metadata, or move long text to the body of the file.',
  ),
  'prompt/too-many-blank-lines': defineError<{ limit: number }>(
    (e) => `The front matter has more than ${e.limit} blank lines in a row.`,
    'Remove blank lines. In a long value, write line breaks as `\\n` in double quotes.',
  ),
  'prompt/empty-body': defineError('The prompt has no text.', 'Write the prompt text below the closing `---`.'),
  'prompt/unsupported-type': defineError<{ type: string }>(
    (e, w) => `${capitalize(w.service)} does not support ${e.type} prompts.`,
    'Remove the `type` field. promptsync will then store the markers as part of the text, and your application can interpret them the way Dotprompt does.',
  ),
  'prompt/other-type': defineError<{
    type: string;
    stored: string;
  }>(
    (e, w) => `The file contains a ${e.type} prompt, but ${w.service} stores this prompt as a ${e.stored} prompt.`,
    (e) =>
      `Set \`type: ${e.stored}\` in the file, or use a different id. The type of an existing prompt cannot be changed.`,
  ),
  'prompt/no-messages': defineError(
    'The chat prompt has no messages.',
    'Above the text of each message, add a line with a marker such as `{{role "system"}}`. If this is not a chat prompt, remove `type: chat`.',
  ),
  'prompt/text-outside-message': defineError<{
    /** Whether the text is above the first marker. Otherwise, it is below the marker of a placeholder. */
    isFirst: boolean;
  }>(
    (e) =>
      e.isFirst
        ? 'The text above the first marker does not belong to any message.'
        : 'The text below the placeholder marker does not belong to any message.',
    'Add a line with a marker such as `{{role "user"}}` above the text, or remove the text.',
  ),
  'prompt/invalid-marker': defineError<{
    line: string;
    marker: string;
    /** The line as the content of a message. */
    escaped: string;
  }>(
    (e) => `The line \`${e.line}\` looks like a chat marker but is not valid.`,
    (e) =>
      `If the line is meant to be a marker, write \`${e.marker}\` on a separate line, without indentation. If the line is part of the text, write \`${e.escaped}\`.`,
  ),
  'prompt/placeholder-is-variable': defineError<{ name: string }>(
    (e) => `The placeholder "${e.name}" has the same name as the variable \`{{${e.name}}}\`.`,
    (_, w) =>
      `Rename the placeholder or the variable. ${capitalize(w.service)} rejects prompts that use the same name for both.`,
  ),
  'prompt/possible-marker': defineWarning<{
    line: string;
    /** The first character in the line that is invisible or only looks like a space. Null if there is none. */
    blank: string | null;
    /** Whether the line is a marker. If so, its role contains the blank character. */
    isMarker: boolean;
  }>(
    (e) =>
      e.isMarker
        ? `The role in the marker \`${e.line}\` contains the character ${describeCharacter(e.blank ?? '')}, which looks like an ordinary space.`
        : `The line \`${e.line}\` looks like a chat marker, but promptsync treats it as part of the text.${e.blank === null ? '' : ` The line contains the character ${describeCharacter(e.blank)}.`}`,
    (e) =>
      e.isMarker
        ? 'Remove the character from the role, or replace it with an ordinary space.'
        : `If the line is meant to be a marker, write it in the form \`{{role "user"}}\` or \`{{placeholder "history"}}\`${e.blank === null ? '' : ', with ordinary spaces'}.`,
  ),
  'prompt/marker-in-text': defineWarning(
    'This is a text prompt, but its text contains a chat marker.',
    'If this is meant to be a chat prompt, add `type: chat` before the first sync. The type of an existing prompt cannot be changed.',
  ),
  'prompt/missing-id': defineError(
    'The field `id` is missing.',
    (_, w) =>
      `Create the prompt in ${w.service}, then copy its id to the \`id\` field. promptsync cannot create the prompt because ${w.service}'s API does not support creating prompts.`,
  ),
  'prompt/invalid-path-id': defineError<{ id: string; fault: string }>(
    (e) => `The file has no \`id\`, and the id "${e.id}" from its path is invalid: ${e.fault}.`,
    'Add an `id` to the front matter, or rename the file.',
  ),
  'prompt/placeholder-id': defineWarning(
    'The id `replace_me` is a placeholder, so promptsync will reject this file when you sync.',
    (_, w) => `Create the prompt in ${w.service}, then replace \`replace_me\` with the prompt's id.`,
  ),
  'prompt/missing-field': defineError<{ field: string }>(
    (e) => `The field \`${e.field}\` is missing.`,
    (e) => `Add \`${e.field}:\` to the front matter.`,
  ),
  'prompt/unknown-field': defineError<{ field: string } & SpellingEvidence>(
    (e) => `The field \`${e.field}\` is unknown.`,
    (e) =>
      makeSuggestionHint(e, `The only fields allowed here are ${FIELDS}. Put custom data under \`metadata:\`.`, '`'),
  ),
  'prompt/invalid-field': defineError<InvalidField>(
    (e) => `The field \`${e.field}\` is invalid: ${e.expected}.`,
    (e) => e.fix ?? 'Correct this field in the front matter.',
  ),
  'prompt/invalid-pin': defineError<
    {
      environment: string;
      /** The pin as JSON. Null if there is no value. */
      pin: string | null;
      /** Whether the pin is a `git:` pin with more than 250 characters. */
      isTooLong: boolean;
      canPinNumbers: boolean;
      canPinIds: boolean;
    } & SpellingEvidence
  >(
    (e) =>
      e.pin === null
        ? `The pin for "${e.environment}" has no value.`
        : `The pin \`${e.pin}\` for "${e.environment}" is invalid.`,
    (e) => {
      if (e.isTooLong) return 'Pin a shorter ref. A `git:` pin can be at most 250 characters long.';
      const numbers = `a version number (1 or higher), ${e.canPinIds ? '`version:<id>`, ' : ''}`;
      const allowed = e.canPinNumbers ? `Use \`latest\`, ${numbers}or \`git:<ref>\`.` : 'Use `latest` or `git:<ref>`.';
      return makeSuggestionHint(e, allowed, '`');
    },
  ),
  'prompt/not-portable-pin': defineError<{ environment: string; pin: string }>(
    (e) =>
      `"${e.environment}" is pinned to \`${e.pin}\`, but \`portable_pins\` in \`promptsync.yaml\` does not allow version numbers or ids. The same number or id can refer to different versions in different services.`,
    (e, w) =>
      `Pin \`latest\` or \`git:<ref>\` instead. To pin the text that another ${w.environment} serves, first remove this pin, and then run \`promptsync promote KEY --to ${quoteShellWord(e.environment)}\`, which writes a \`git:\` pin.`,
  ),
  'prompt/reserved-metadata': defineError(
    'The metadata key `promptsync` is reserved for internal use.',
    'Rename the key. The key `promptsync` is reserved for the record that promptsync keeps in each version.',
  ),
  'prompt/variables-mismatch': defineError<VariablesMismatch>(
    describeVariablesMismatch,
    (e) => `Write \`variables: ${e.list}\`, or remove the \`variables\` field.`,
  ),
  'prompt/duplicate-id': defineError<{
    id: string;
    /** The key, if exactly the same files also share the key. Otherwise null. */
    key: string | null;
    others: readonly string[];
  }>(
    (e) =>
      e.key === null
        ? `The id "${e.id}" is also used by ${joinCodeNames(e.others, 'and')}.`
        : `The id "${e.id}" and the key "${e.key}" are also used by ${joinCodeNames(e.others, 'and')}.`,
    (e) =>
      e.key === null
        ? 'Remove all but one of the files, or give each file a unique id. Each prompt can have only one file.'
        : 'If the files are copies of the same prompt, remove all but one of them. If they are different prompts, give each file a unique id and a unique key.',
  ),
  'prompt/duplicate-key': defineError<{
    key: string;
    others: readonly string[];
  }>((e) => `The key "${e.key}" is also used by ${joinCodeNames(e.others, 'and')}.`, 'Give each prompt a unique key.'),
  'prompt/unknown-environment': defineError<{ environment: string; known: readonly string[] } & SpellingEvidence>(
    (e, w) => `\`promptsync.yaml\` does not define the ${w.environment} "${e.environment}".`,
    (e, w) =>
      makeSuggestionHint(
        e,
        `Use ${joinQuotedNames(e.known, 'or')}. If "${e.environment}" is a new ${w.environment}, first add it to \`environments:\` in \`promptsync.yaml\`. If it no longer exists, remove its pin.`,
        '`',
      ),
  ),
  'prompt/tool-environment': defineError<{ environment: string }>(
    (e, w) => `The ${w.environment} "${e.environment}" is reserved for internal use.`,
    (_, w) => `Pin a different ${w.environment}.`,
  ),
  'prompt/hidden-character': defineWarning<{ character: string; count: number }>(
    (e) =>
      e.count > 1
        ? `The file contains the invisible character ${e.character} ${formatCount(e.count, 'time')}.`
        : `The file contains the invisible character ${e.character}.`,
    (_, w) =>
      `Check that the character is intentional, because promptsync sends it to ${w.service} unchanged. If it is, accept the warning by adding this line to the front matter: \`accept_warnings: [prompt/hidden-character]\``,
  ),

  // YAML, in prompt files and in promptsync.yaml
  'yaml/syntax': defineError<{
    reason: string;
    /** The probable correction of the line. Null if promptsync knows no correction. */
    corrected: string | null;
  }>(
    (e) => `promptsync could not parse the YAML: ${e.reason}.`,
    (e) =>
      e.corrected === null
        ? 'Check the colons, quotation marks, and indentation on this line and on the lines around it. Indent with spaces, not tabs.'
        : `Write the line as \`${e.corrected}\`.`,
  ),
  'yaml/look-alike': defineError<{ character: string; needed: 'colon' | 'space' | 'line break' }>(
    (e) =>
      `The line contains the character ${describeCharacter(e.character)} where YAML needs ${LOOK_ALIKES[e.needed].needed}.`,
    (e) => LOOK_ALIKES[e.needed].hint,
  ),
  'yaml/ambiguous-value': defineWarning<{
    /** The first value that YAML 1.1 and 1.2 read differently, as it is written in the file. */
    written: string;
    /** The number of other values in the file that they read differently. */
    others: number;
  }>(
    (e) =>
      `YAML 1.2 reads the value \`${e.written}\` as ${/[0-9]/.test(e.written) ? `the decimal number ${Number(e.written)}, but YAML 1.1 reads it as an octal number` : 'text, but YAML 1.1 reads it as true or false'}.${e.others === 0 ? '' : ` The file has ${formatCount(e.others, 'more value')} of this kind.`}`,
    (e) =>
      /[0-9]/.test(e.written)
        ? 'If the value is text, put it in quotes. If it is a number, write it without leading zeros.'
        : 'If the value is text, put it in quotes. Otherwise, write `true` or `false`.',
  ),
  'yaml/not-a-mapping': defineError(
    'The YAML is not a mapping.',
    'Write each field as `name: value` on its own line, with a space after the colon.',
  ),
  'yaml/duplicate-key': defineError<{ key: string }>(
    (e) => `The key \`${e.key}\` appears twice.`,
    'Remove one of the two entries.',
  ),
  'yaml/key-not-text': defineError('This YAML key is not a string.', 'Put the key in quotes.'),
  'yaml/forbidden-key': defineError<{ key: string }>((e) => `The key \`${e.key}\` is not allowed.`, 'Rename the key.'),
  'yaml/alias': defineError(
    'The YAML contains an anchor or alias, which promptsync does not allow.',
    'Remove the anchor, and replace each alias with its value. If a value begins with a literal `&` or `*`, put the value in quotes.',
  ),
  'yaml/tag': defineError<{ tag: string }>(
    (e) => `The YAML tag \`${e.tag}\` is not allowed.`,
    'Write the value without a tag. If the value begins with a literal `!`, put the value in quotes.',
  ),
  'yaml/number': defineError<{ number: string }>(
    (e) => `promptsync cannot represent the number \`${e.number}\` exactly.`,
    'Use a finite number. Integers must be between -2^53 and 2^53. To store an integer outside this range, put it in quotes.',
  ),
  'yaml/too-deep': defineError('The YAML is nested too deeply.', 'Nest the mappings and lists less deeply.'),

  // Editing files
  'edit/not-kept': defineError<{ reason: string }>(
    (e) => `promptsync cannot edit the file in place: ${e.reason}.`,
    'Edit the file manually.',
  ),
  'edit/changed-meanwhile': defineError(
    'The file changed while promptsync was editing it, so the edit was not saved.',
    'Save your changes to the file, then run the command again.',
  ),
  'edit/locked': defineError<{ lock: string }>(
    (e) => `Another promptsync process is writing files in this workspace and holds the lock \`${e.lock}\`.`,
    (e) =>
      `Wait for the other process to finish, then run the command again. If no other process is running, delete \`${e.lock}\`.`,
  ),
  'edit/not-lockable': defineError<{ lock: string; reason: string }>(
    (e) => `promptsync could not create the lock \`${e.lock}\` (${e.reason}).`,
    (e) =>
      `Make sure that you have permission to write to the folder and that no file named \`${e.lock}\` exists, then run the command again.`,
  ),
  'edit/lock-lost': defineError<{ lock: string }>(
    (e) =>
      `While promptsync was suspended, another process took over the lock \`${e.lock}\`, so promptsync did not write any files.`,
    'Run the command again.',
  ),
  'edit/unwritable': defineError<{ reason: string }>(
    (e) => `promptsync could not write the file (${e.reason}).`,
    'Make sure that you have write permission and that the disk is not full. Then run the command again.',
  ),
};

const LOOK_ALIKES = {
  colon: { needed: 'an ordinary colon', hint: 'Replace the character with `:` and a space.' },
  space: { needed: 'an ordinary space', hint: 'Replace the character with an ordinary space, or remove it.' },
  'line break': { needed: 'a line break', hint: 'Save the file with LF or CRLF line endings.' },
} as const;

const MAX_LISTED_NAMES = 20;

/** Describes how the `variables` list differs from the variables of the text. Names each variable once. */
function describeVariablesMismatch(e: VariablesMismatch): string {
  const quote = (name: string) => `"${name}"`;
  const listNames = (names: readonly string[]) => joinNames(names.map(quote), MAX_LISTED_NAMES);
  const faults = [
    ...(e.missing.length === 0 ? [] : [`is missing ${listNames(e.missing)}`]),
    ...(e.unused.length === 0 ? [] : [`lists ${listNames(e.unused)}, which the text does not use`]),
    ...(e.repeated.length === 0 ? [] : [`lists ${listNames(e.repeated)} more than once`]),
  ];
  return `\`variables:\` ${faults.join('; and ')}.`;
}
