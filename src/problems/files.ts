import { escapeSelector } from '../text.ts';
import { hintSuggestion, defineError, type SpellingEvidence, quoteNames, defineWarning } from './catalog-entry.ts';

const FIELDS = 'id, key, name, description, pins, metadata, variables and accept_warnings';

/** What can be wrong with prompt files and the YAML in them, and with edits of them. */
export const FILE_PROBLEMS = {
  // Prompt files
  'prompt/none-found': defineError<{ patterns: readonly string[] }>(
    (e) => `No prompt file matches ${quoteNames(e.patterns)}.`,
    'Correct `prompts:` in promptsync.yaml, or add a first prompt file.',
  ),
  'prompt/unreadable': defineError<{ reason: string }>(
    (e) => `The file cannot be read (${e.reason}).`,
    'Check that it exists and that you may read it.',
  ),
  'prompt/symbolic-link': defineError(
    'The path is a symbolic link.',
    'Prompt files are read from the repository alone: put the file itself here.',
  ),
  'prompt/too-large': defineError<{ bytes: number; limit: number }>(
    (e) => `The file has ${e.bytes} bytes; at most ${e.limit} are read.`,
    'Shorten the prompt.',
  ),
  'prompt/not-utf8': defineError('The file is not valid UTF-8.', 'Save it as UTF-8.'),
  'prompt/nul': defineError('The file contains a NUL character.', 'Remove it: prompts are text.'),
  'prompt/conflict-markers': defineError(
    'A merge conflict was left in the file.',
    'Resolve it and remove the lines that begin with <<<<<<<, ||||||| and >>>>>>>.',
  ),
  'prompt/no-front-matter': defineError<{ path: string }>(
    'The file does not begin with front matter.',
    (e) =>
      'Begin it with a line of exactly `---`, then id, key and name, then another line `---`. If it is no prompt, leave ' +
      `it out: add '!${escapeSelector(e.path)}' to \`prompts:\` in promptsync.yaml.`,
  ),
  'prompt/bad-delimiter': defineError<{ line: string }>(
    (e) => `The delimiter line is "${e.line}".`,
    'A delimiter is a line of exactly `---`. Front matter is YAML data and is never evaluated.',
  ),
  'prompt/unclosed-front-matter': defineError(
    'The front matter is not closed.',
    'End it with a line of exactly `---` before the text of the prompt.',
  ),
  'prompt/front-matter-too-large': defineError<{ bytes: number; limit: number }>(
    (e) => `The front matter has ${e.bytes} bytes; at most ${e.limit} are allowed.`,
    'Move long text into the body, or shorten the metadata.',
  ),
  'prompt/empty-body': defineError('The prompt has no text.', 'Write the text below the closing `---`.'),
  'prompt/missing-id': defineError(
    'The field `id` is missing.',
    'The service has no call that creates a prompt: create it in the service, then put the id it shows here as `id:`.',
  ),
  'prompt/missing-field': defineError<{ field: string }>(
    (e) => `The field \`${e.field}\` is missing.`,
    (e) => `Add \`${e.field}:\` to the front matter.`,
  ),
  'prompt/unknown-field': defineError<{ field: string } & SpellingEvidence>(
    (e) => `The field "${e.field}" is not known.`,
    (e) => hintSuggestion(e, `Fields are ${FIELDS}; your own data goes under \`metadata:\`.`, '`'),
  ),
  'prompt/invalid-field': defineError<{ field: string; expected: string }>(
    (e) => `The field "${e.field}" is not valid: ${e.expected}.`,
    'Correct the value.',
  ),
  'prompt/invalid-pin': defineError<{ environment: string } & SpellingEvidence>(
    (e) => `The pin of "${e.environment}" is not valid.`,
    (e) =>
      hintSuggestion(
        e,
        'A pin is `latest`, a version number from 1, `version:<id>` or `git:<ref>` (at most 250 characters).',
        '`',
      ),
  ),
  'prompt/reserved-metadata': defineError(
    'The metadata key `promptsync` is reserved.',
    'Name it differently: promptsync keeps its own record there.',
  ),
  'prompt/variables-mismatch': defineError<{
    missing: readonly string[];
    unused: readonly string[];
    repeated: readonly string[];
  }>(
    (e) =>
      findFirstPart([
        ...e.missing.map((name) => `{{${name}}} is in the text and not in \`variables\``),
        ...e.unused.map((name) => `"${name}" is in \`variables\` and not in the text`),
        ...e.repeated.map((name) => `"${name}" is in \`variables\` more than once`),
      ]) + '.',
    'Make `variables` list the placeholders of the text exactly, or remove it.',
  ),
  'prompt/duplicate-id': defineError<{ id: string; other: string }>(
    (e) => `The id "${e.id}" is also used by ${e.other}.`,
    'One prompt has one file: remove one of the two, or correct its id.',
  ),
  'prompt/duplicate-key': defineError<{ key: string; other: string }>(
    (e) => `The key "${e.key}" is also used by ${e.other}.`,
    'Give each prompt a key of its own.',
  ),
  'prompt/unknown-environment': defineError<{ environment: string; known: readonly string[] } & SpellingEvidence>(
    (e) => `The environment "${e.environment}" is not in promptsync.yaml.`,
    (e) =>
      hintSuggestion(e, `Environments are: ${e.known.join(', ')}. Add it under \`environments:\` if it is meant.`, '`'),
  ),
  'prompt/tool-environment': defineError<{ environment: string }>(
    (e) => `The environment "${e.environment}" is promptsync's own.`,
    'Pin another environment, or set `tracking_environment` in promptsync.yaml to another name.',
  ),
  'prompt/hidden-character': defineWarning<{ character: string; count: number }>(
    (e) => `The file contains the invisible character ${e.character}${e.count > 1 ? ` ${e.count} times` : ''}.`,
    'Check that it is meant: it is sent to the service unchanged.',
  ),
  'prompt/gone': defineWarning<{ id: string; base: string; serves: string }>(
    (e) => `The file of prompt "${e.id}" is gone since ${e.base}; ${e.serves}`,
    'The interface cannot delete a prompt: remove it in the service if it is no longer used.',
  ),

  // YAML, in prompt files and in promptsync.yaml
  'yaml/syntax': defineError<{ reason: string }>((e) => `The YAML cannot be read: ${e.reason}.`, 'Correct the syntax.'),
  'yaml/not-a-mapping': defineError('The YAML is not a mapping.', 'Write fields as `name: value`, one per line.'),
  'yaml/duplicate-key': defineError<{ key: string }>(
    (e) => `The key "${e.key}" occurs twice.`,
    'Remove one of the two.',
  ),
  'yaml/key-not-text': defineError('A key is not plain text.', 'Put the key in quotes.'),
  'yaml/forbidden-key': defineError<{ key: string }>(
    (e) => `The key "${e.key}" is not allowed.`,
    'Name it differently.',
  ),
  'yaml/alias': defineError('Anchors and aliases are not allowed.', 'Write the value out.'),
  'yaml/tag': defineError<{ tag: string }>(
    (e) => `The tag "${e.tag}" is not allowed.`,
    'Write the value without a tag.',
  ),
  'yaml/number': defineError<{ number: string }>(
    (e) => `The number ${e.number} cannot be kept exactly.`,
    'Numbers are finite and integers at most 2^53; put others in quotes.',
  ),
  'yaml/too-deep': defineError('The YAML is nested too deeply.', 'Flatten it.'),

  // Editing files
  'edit/not-kept': defineError<{ reason: string }>(
    (e) => `The file cannot be edited in place: ${e.reason}.`,
    'Edit it by hand.',
  ),
  'edit/changed-meanwhile': defineError(
    'The file was changed while it was to be edited; it was left as it is.',
    'Save it, then run again.',
  ),
  'edit/locked': defineError<{ lock: string }>(
    (e) => `Another promptsync process is writing prompt files of this workspace: it holds the lock ${e.lock}.`,
    (e) => `Wait until it has ended, then run again. If there is no such process, remove ${e.lock}.`,
  ),
  'edit/not-lockable': defineError<{ lock: string; reason: string }>(
    (e) => `The lock ${e.lock} cannot be created (${e.reason}).`,
    'Check that you may write to its folder and that nothing else has its name, then run again.',
  ),
  'edit/lock-lost': defineError<{ lock: string }>(
    (e) => `Another process took over the lock ${e.lock} while this one was suspended; no file was written.`,
    'Run again.',
  ),
  'edit/unwritable': defineError<{ reason: string }>(
    (e) => `The file cannot be written (${e.reason}).`,
    'Check that you may write there and that there is room, then run again.',
  ),
};

function findFirstPart(parts: readonly string[]): string {
  const further = parts.length - 20;
  return parts.slice(0, 20).join('; ') + (further > 0 ? `; and ${further} more` : '');
}
