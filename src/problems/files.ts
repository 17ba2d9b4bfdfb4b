import { escapeSelector } from '../text.ts';
import { makeSuggestionHint, defineError, type SpellingEvidence, quoteNames, defineWarning } from './catalog-entry.ts';

const FIELDS = 'id, key, name, description, pins, metadata, variables and accept_warnings';

/** The problems of prompt files, of the YAML in files, and of edits that promptsync makes in files. */
export const FILE_PROBLEMS = {
  // Prompt files
  'prompt/none-found': defineError<{ patterns: readonly string[] }>(
    (e) => `No prompt file matches ${quoteNames(e.patterns)}.`,
    'Correct the patterns under `prompts:` in promptsync.yaml, or add a prompt file that matches one of them.',
  ),
  'prompt/unreadable': defineError<{ reason: string }>(
    (e) => `The file cannot be read (${e.reason}).`,
    'Check that the file exists and that you have permission to read it.',
  ),
  'prompt/symbolic-link': defineError(
    'The path is a symbolic link, and promptsync does not read prompt files through links.',
    'Replace the link with the file or folder itself.',
  ),
  'prompt/too-large': defineError<{ bytes: number; limit: number }>(
    (e) => `The file has ${e.bytes} bytes, but promptsync reads at most ${e.limit}.`,
    'Shorten the prompt.',
  ),
  'prompt/not-utf8': defineError('The file is not valid UTF-8.', 'Save the file as UTF-8.'),
  'prompt/nul': defineError(
    'The file contains a NUL character.',
    'Remove the NUL character, because a prompt file must be plain text.',
  ),
  'prompt/conflict-markers': defineError(
    'The file contains the markers of an unresolved merge conflict.',
    'Resolve the conflict, and remove the lines that begin with <<<<<<<, ||||||| and >>>>>>>.',
  ),
  'prompt/no-front-matter': defineError<{ path: string }>(
    'The file does not begin with front matter.',
    (e) =>
      `Begin the file with a line of exactly \`---\`, then the fields id, key and name, then another line \`---\`. If the file is not a prompt, add '!${escapeSelector(e.path)}' to \`prompts:\` in promptsync.yaml to exclude it.`,
  ),
  'prompt/bad-delimiter': defineError<{ line: string }>(
    (e) => `The line "${e.line}" is not a valid delimiter of front matter.`,
    'Change the line to exactly `---`. promptsync reads front matter as YAML and never evaluates it as code.',
  ),
  'prompt/unclosed-front-matter': defineError(
    'The front matter has no closing delimiter.',
    'End the front matter with a line of exactly `---` before the text of the prompt.',
  ),
  'prompt/front-matter-too-large': defineError<{ bytes: number; limit: number }>(
    (e) => `The front matter has ${e.bytes} bytes, but at most ${e.limit} are allowed.`,
    'Move long text into the body of the file, or shorten the metadata.',
  ),
  'prompt/empty-body': defineError('The prompt has no text.', 'Write the text of the prompt below the closing `---`.'),
  'prompt/missing-id': defineError(
    'The field `id` is missing.',
    'Create the prompt in the service, then copy its id into the field `id`. The service has no call that creates a prompt.',
  ),
  'prompt/missing-field': defineError<{ field: string }>(
    (e) => `The field \`${e.field}\` is missing.`,
    (e) => `Add \`${e.field}:\` to the front matter.`,
  ),
  'prompt/unknown-field': defineError<{ field: string } & SpellingEvidence>(
    (e) => `The field "${e.field}" is unknown.`,
    (e) => makeSuggestionHint(e, `Use only the fields ${FIELDS}. Put your own data under \`metadata:\`.`, '`'),
  ),
  'prompt/invalid-field': defineError<{ field: string; expected: string }>(
    (e) => `The field "${e.field}" is not valid: ${e.expected}.`,
    'Correct the field in the front matter.',
  ),
  'prompt/invalid-pin': defineError<{ environment: string } & SpellingEvidence>(
    (e) => `The pin of "${e.environment}" is not valid.`,
    (e) =>
      makeSuggestionHint(
        e,
        'Pin `latest`, a version number from 1, `version:<id>` or `git:<ref>` (at most 250 characters).',
        '`',
      ),
  ),
  'prompt/reserved-metadata': defineError(
    'The metadata key `promptsync` is reserved for promptsync.',
    'Rename the key. promptsync stores its own record under this key in each version.',
  ),
  'prompt/variables-mismatch': defineError<{
    missing: readonly string[];
    unused: readonly string[];
    repeated: readonly string[];
  }>(
    (e) =>
      joinFirstSentences([
        ...e.missing.map((name) => `The text uses {{${name}}}, but \`variables\` does not list it.`),
        ...e.unused.map((name) => `The list \`variables\` contains "${name}", but the text does not use it.`),
        ...e.repeated.map((name) => `The list \`variables\` contains "${name}" more than once.`),
      ]),
    'Make `variables` list exactly the placeholders in the text, or remove the field.',
  ),
  'prompt/duplicate-id': defineError<{ id: string; other: string }>(
    (e) => `The id "${e.id}" is also used by ${e.other}.`,
    'Remove one of the two files, or correct its id. Each prompt has exactly one file.',
  ),
  'prompt/duplicate-key': defineError<{ key: string; other: string }>(
    (e) => `The key "${e.key}" is also used by ${e.other}.`,
    'Give each prompt a unique key.',
  ),
  'prompt/unknown-environment': defineError<{ environment: string; known: readonly string[] } & SpellingEvidence>(
    (e) => `The environment "${e.environment}" is not in promptsync.yaml.`,
    (e) =>
      makeSuggestionHint(
        e,
        `Use one of these environments: ${e.known.join(', ')}. Or add the new environment under \`environments:\` in promptsync.yaml.`,
        '`',
      ),
  ),
  'prompt/tool-environment': defineError<{ environment: string }>(
    (e) => `The environment "${e.environment}" is reserved for promptsync.`,
    'Pin another environment, or set `tracking_environment` in promptsync.yaml to another name.',
  ),
  'prompt/hidden-character': defineWarning<{ character: string; count: number }>(
    (e) => `The file contains the invisible character ${e.character}${e.count > 1 ? ` ${e.count} times` : ''}.`,
    'Check that the character is intended, because promptsync sends it to the service unchanged.',
  ),
  'prompt/gone': defineWarning<{
    id: string;
    base: string;
    /** The sentence that says what the service still serves. */
    serves: string;
  }>(
    (e) => `The file of the prompt "${e.id}" existed at ${e.base} and has been deleted since. ${e.serves}`,
    'Delete the prompt in the service if nobody uses it anymore. promptsync cannot delete prompts.',
  ),

  // YAML, in prompt files and in promptsync.yaml
  'yaml/syntax': defineError<{ reason: string }>(
    (e) => `The YAML cannot be read: ${e.reason}.`,
    'Correct the YAML syntax.',
  ),
  'yaml/not-a-mapping': defineError('The YAML is not a mapping.', 'Write the fields as `name: value`, one per line.'),
  'yaml/duplicate-key': defineError<{ key: string }>(
    (e) => `The key "${e.key}" occurs twice.`,
    'Remove one of the two entries.',
  ),
  'yaml/key-not-text': defineError('A key in the YAML is not plain text.', 'Put the key in quotes.'),
  'yaml/forbidden-key': defineError<{ key: string }>((e) => `The key "${e.key}" is not allowed.`, 'Rename the key.'),
  'yaml/alias': defineError(
    'The YAML contains an anchor or an alias, which promptsync does not allow.',
    'Remove the anchor, and replace each alias with the value itself.',
  ),
  'yaml/tag': defineError<{ tag: string }>(
    (e) => `The tag "${e.tag}" is not allowed.`,
    'Write the value without a tag.',
  ),
  'yaml/number': defineError<{ number: string }>(
    (e) => `promptsync cannot keep the number ${e.number} exactly.`,
    'Use finite numbers, and integers of at most 2^53. Put other numbers in quotes.',
  ),
  'yaml/too-deep': defineError('The YAML is nested too deeply.', 'Reduce the number of nested mappings and lists.'),

  // Editing files
  'edit/not-kept': defineError<{ reason: string }>(
    (e) => `promptsync cannot edit the file in place: ${e.reason}.`,
    'Edit the file by hand.',
  ),
  'edit/changed-meanwhile': defineError(
    'The file changed while promptsync was preparing its edit, so promptsync did not write it.',
    'Save your changes to the file, then run the command again.',
  ),
  'edit/locked': defineError<{ lock: string }>(
    (e) => `Another promptsync process is writing prompt files in this workspace. It holds the lock ${e.lock}.`,
    (e) =>
      `Wait until the other process ends, then run the command again. If there is no such process, remove ${e.lock}.`,
  ),
  'edit/not-lockable': defineError<{ lock: string; reason: string }>(
    (e) => `promptsync cannot create the lock ${e.lock} (${e.reason}).`,
    'Check that you may write to the folder of the lock and that no other file has its name. Then run the command again.',
  ),
  'edit/lock-lost': defineError<{ lock: string }>(
    (e) => `Another process took over the lock ${e.lock} while this process was suspended. promptsync wrote no file.`,
    'Run the command again.',
  ),
  'edit/unwritable': defineError<{ reason: string }>(
    (e) => `The file cannot be written (${e.reason}).`,
    'Check that you have permission to write the file and that the disk is not full. Then run the command again.',
  ),
};

const MAX_JOINED_SENTENCES = 20;

/** Joins the first 20 sentences, and counts the others. */
function joinFirstSentences(sentences: readonly string[]): string {
  const omitted = sentences.length - MAX_JOINED_SENTENCES;
  const joined = sentences.slice(0, MAX_JOINED_SENTENCES).join(' ');
  return omitted > 0 ? `${joined} There are ${omitted} more differences.` : joined;
}
