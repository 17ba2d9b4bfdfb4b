import { escapeSelector, formatCount, joinQuotedNames, joinWords, shortenCommitId } from '../text.ts';
import { defineError, endSentence, makePromptCommand, quoteShellWord, defineWarning } from './catalog-entry.ts';

/** A prompt that has no prompt file, although it has one at the base. */
type GonePrompt = {
  id: string;
  key: string;
  base: string;
  /**
   * What became of the file: deleted, no longer matched by a pattern, used for another prompt id, or unchanged but with
   * another id from its path.
   */
  file: 'deleted' | 'unmatched' | 'other-id' | 'other-path-id';
  /** The present path of a file that has another id from its path. Null in all other cases. */
  newPath: string | null;
  /** The pins that the file had last, such as `"staging" to "latest"`. */
  pins: readonly string[];
  /** The sentence that says what the service still serves. Empty if promptsync has not asked. */
  serves: string;
};

function describeGoneFile({ file, key }: GonePrompt): string {
  switch (file) {
    case 'deleted':
      return `the file for the prompt "${key}" has been deleted`;
    case 'unmatched':
      return `the file for the prompt "${key}" no longer matches a pattern under \`prompts\``;
    case 'other-id':
      return `the file for the prompt "${key}" has a different \`id\``;
    case 'other-path-id':
      return `the file for the prompt "${key}", which takes its id from its path, has a different id`;
  }
}

function makeGoneHint({ file, id, newPath }: GonePrompt): string {
  const advice =
    'If no application uses the prompt anymore, delete it in the service. promptsync never deletes prompts.';
  switch (file) {
    case 'deleted':
      return advice;
    case 'unmatched':
      return `To keep the prompt, make sure that a pattern under \`prompts\` matches its file. ${advice}`;
    case 'other-id':
      return `To keep the prompt, restore \`id: ${id}\`. ${advice}`;
    case 'other-path-id':
      return `To keep the prompt, write \`id: ${id}\` in the front matter of \`${newPath}\`. ${advice}`;
  }
}

/** Problems with the commands that write prompt files, and with prompts whose files are gone. */
export const COMMAND_PROBLEMS = {
  // Prompts that are no longer managed
  'prompt/gone': defineWarning<GonePrompt>((e) => {
    const pins = joinWords(e.pins, 'and') || 'no environment';
    return `Since the base commit \`${e.base}\`, ${describeGoneFile(e)}. It pinned ${pins}.${e.serves && ` ${e.serves}`}`;
  }, makeGoneHint),

  // promptsync promote
  'promote/nothing-active': defineError<{ environment: string; key: string }>(
    (e) => `No version of this prompt is active in "${e.environment}".`,
    (e) =>
      `If the file does not pin "${e.environment}", first run \`${makePromptCommand('promote', e.key, `--to ${quoteShellWord(e.environment)}`)}\`. Then activate a version in "${e.environment}" with \`promptsync sync\`, and run this command again.`,
  ),
  'promote/source-unclear': defineError<{
    environment: string;
    /** The pin as it is written in the file. Null if the file does not pin the environment. */
    pin: string | null;
  }>(
    (e) =>
      e.pin === null
        ? `promptsync does not know which version to promote because "${e.environment}" is managed by another configuration and is not pinned in the file.`
        : `"${e.environment}" is pinned to \`${e.pin}\`, which identifies a version in a service that another configuration uses. promptsync cannot promote that version because it cannot read the version's text.`,
    (e) => `Pin "${e.environment}" to \`latest\` or \`git:<ref>\`, then run the command again.`,
  ),
  'promote/source-drifted': defineWarning<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, which does not match the pin in the file. promptsync promotes ${e.serves} anyway.`,
    'To promote the pinned version instead, activate it with `promptsync sync`, then promote again.',
  ),

  // promptsync rollback
  'rollback/nothing-before': defineError<{ environment: string; number: number }>(
    (e) => `promptsync could not find a version that "${e.environment}" served before v${e.number}.`,
    'Use `--to N` to specify a version. To list the known versions, run `promptsync history KEY`.',
  ),
  'rollback/nothing-served': defineError<{ environment: string }>(
    (e) => `No version is active in "${e.environment}", so there is nothing to roll back.`,
    (e) =>
      `To activate a version in "${e.environment}", use \`--to N\`. To stop managing "${e.environment}", remove its pin from the file.`,
  ),
  'rollback/shallow': defineError<{ environment: string }>(
    (e) => `This clone is shallow, so promptsync cannot read the earlier pins for "${e.environment}".`,
    'Run `git fetch --unshallow`, or set `fetch-depth: 0` for `actions/checkout`. To roll back without the full history, use `--to N` to specify a version.',
  ),
  'rollback/unclear-before': defineError<{
    environment: string;
    /** The commit with the earlier pin. Null if only the uncommitted file has it. */
    commit: string | null;
    pin: string;
  }>(
    (e) =>
      `${e.commit === null ? 'The file pins' : `Commit ${shortenCommitId(e.commit)} pinned`} "${e.environment}" to \`${e.pin}\`, but promptsync cannot tell which version this pin refers to.`,
    'Use `--to N` to specify a version, or edit the file and pin a commit that contains the text you want, for example `git:9f2c1ab04d3e`.',
  ),
  'rollback/unknown-version': defineError<{ number: number }>(
    (e) => `promptsync could not find version ${e.number} of this prompt.`,
    'Choose one of the versions listed by `promptsync history KEY`. Alternatively, edit the file and pin `git:<ref>`, which can select any prompt text that was committed to git.',
  ),

  // promptsync pull
  'pull/conflict': defineError<{ places: number }>(
    (e) =>
      `The file and the service have conflicting changes in ${formatCount(e.places, 'place')}. The file now contains both versions, separated by conflict markers.`,
    'Resolve the conflicts in the file and remove the conflict markers (`<<<<<<<`, `=======`, and `>>>>>>>`). Alternatively, restore the file to its state before the pull and run the command again with `--ours` to resolve the conflicts in favor of the file or `--theirs` in favor of the service.',
  ),
  'pull/would-conflict': defineError<{ places: number }>(
    (e) =>
      `The file and the service have conflicting changes in ${formatCount(e.places, 'place')}. \`promptsync pull\` would write both versions to the file.`,
    'To keep the file, use `--ours`. To keep the changes from the service, use `--theirs`. To merge the changes manually, run the command again without `--dry-run`.',
  ),
  'pull/side-needed': defineError<{ places: number }>(
    (e) =>
      `The file and the service have conflicting changes in ${formatCount(e.places, 'place')}. promptsync did not change the file, because conflict markers can be part of this prompt's text.`,
    'Run the command again with `--ours` to resolve the conflicts in favor of the file or with `--theirs` to resolve them in favor of the service.',
  ),
  'pull/pin-conflict': defineError<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but the file pins \`${e.pin}\`. promptsync cannot tell whether the pin or the active version is newer.`,
    'Run the command again with `--ours` to keep the pin in the file or with `--theirs` to pin the active version.',
  ),
  'pull/several': defineError<{ environments: readonly string[] }>(
    (e) =>
      `The changes in the service differ between ${joinQuotedNames(e.environments, 'and')}, so promptsync cannot pull all of these changes into one file.`,
    'Use `--environment NAME` to pull one environment at a time.',
  ),
  'pull/known-version': defineWarning<{ environment: string; number: number; key: string }>(
    (e) =>
      `"${e.environment}" serves v${e.number}. The text of that version is already in git, so promptsync did not pull it.`,
    (e) =>
      `To restore the version that the file pins, run \`promptsync sync\`. To keep v${e.number}, run \`${makePromptCommand('rollback', e.key, `--environment ${quoteShellWord(e.environment)} --to ${e.number}`)}\`.`,
  ),
  'pull/kept-pin': defineWarning<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but the file pins \`${e.pin}\`. promptsync neither changed the pin nor pulled the text of ${e.serves}.`,
    (e) =>
      `To restore the pinned text, run \`promptsync sync\`. To keep the text of ${e.serves}, copy it into the file, merge the change, and pin the merged commit.`,
  ),
  'pull/nothing-active': defineWarning<{ environment: string; served: string }>(
    (e) =>
      `"${e.environment}" no longer serves any version of this prompt. It previously served ${e.served}. promptsync did not change the file.`,
    (e) =>
      `To activate the pinned version again, run \`promptsync sync\`. To stop managing "${e.environment}", remove its pin from the file.`,
  ),
  'pull/config-not-mapping': defineError<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but that version's \`config\` is not a JSON object. A prompt file can store \`config\` only as an object.`,
    'In the service, create a version whose `config` is an object, or remove `metadata` from the file. Without `metadata`, promptsync pulls only the text, and each new version keeps the `config` from the service.',
  ),
  'pull/not-writable': defineError<{
    environment: string;
    serves: string;
    /** A sentence about the text of the version. */
    reason: string;
  }>(
    (e) => `"${e.environment}" serves ${e.serves}, which promptsync cannot write to a file. ${endSentence(e.reason)}`,
    'Create a corrected version in the service, then pull again. Alternatively, run `promptsync sync` to replace the active version with the text in the file.',
  ),

  // promptsync import
  'import/not-writable': defineError<{ reason: string }>(
    (e) => `promptsync cannot write this prompt to a file. ${endSentence(e.reason)}`,
    'Fix the prompt in the service, then import it again.',
  ),
  'import/environment-needed': defineError<{
    /** The environments that the existing prompt files pin. */
    known: readonly string[];
  }>(
    'promptsync does not know which environment to import from because `promptsync.yaml` does not define any `environments`.',
    (e) =>
      e.known.length === 0
        ? 'Use `--environment NAME` to specify the environment to import from.'
        : `Use \`--environment NAME\` to specify the environment to import from. The prompt files pin ${joinQuotedNames(e.known, 'and')}.`,
  ),
  'import/nothing-active': defineError<{
    environments: readonly string[];
    /** Whether the user named the environment. If so, promptsync did not look at other environments. */
    named: boolean;
  }>(
    (e) => `No version is active in ${joinQuotedNames(e.environments, 'or')}, so there is no text to import.`,
    (e) =>
      e.named
        ? `In the service, activate a version in ${joinQuotedNames(e.environments, 'or')}, or import from another environment with \`--environment NAME\`.`
        : 'In the service, activate a version in one of these environments. Alternatively, choose an environment that already has an active version: for `promptsync import`, add it to `environments:` in `promptsync.yaml`; for `promptsync init`, pass it to `--environments`.',
  ),
  'import/unpinned': defineWarning<{ environments: readonly string[] }>(
    (e) =>
      `promptsync left ${joinQuotedNames(e.environments, 'and')} unpinned in the new file. With \`portable_pins\`, the only pin that an import can set is \`latest\`. The import sets this pin only for an environment that allows \`latest\` and serves exactly the text and metadata of the new file.`,
    'To manage an unpinned environment, pin it to a commit that contains the text served there, for example `git:9f2c1ab04d3e`. An import with `--commit` creates such commits. Merge them with a merge commit, not a squash merge.',
  ),
  'import/known': defineError<{ what: 'id' | 'key'; value: string; key: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" is already used by \`${e.other}\`.`,
    (e) =>
      e.what === 'id'
        ? `To pull the changes from the service into \`${e.other}\`, run: \`promptsync pull ${quoteShellWord(escapeSelector(e.key))}\``
        : `Change the key in the service or in \`${e.other}\`.`,
  ),
  'import/path-taken': defineError<{ path: string }>(
    (e) => `The file \`${e.path}\` already exists.`,
    'Move the existing file or, for `promptsync import`, choose another folder with `--dir`.',
  ),
  'import/not-matched': defineError<{ path: string; pattern: string }>(
    (e) => `The new file would be at \`${e.path}\`, but no pattern under \`prompts:\` matches this path.`,
    (e) =>
      `Add a pattern such as \`${e.pattern}\` to \`prompts:\` in \`promptsync.yaml\` or, for \`promptsync import\`, choose another folder with \`--dir\`.`,
  ),
  'import/outside': defineError<{ folder: string }>(
    (e) => `The folder "${e.folder}" is outside the repository.`,
    'Set `--dir` to the path of a folder in the repository, relative to the folder that contains `promptsync.yaml`.',
  ),
  'import/symbolic-link': defineError<{ path: string }>(
    (e) =>
      `The path for the new file contains a symbolic link: \`${e.path}\`. promptsync does not write through symbolic links.`,
    'Replace the symbolic link with a folder or, for `promptsync import`, choose another folder with `--dir`.',
  ),

  // promptsync new
  'new/taken': defineError<{ what: 'id' | 'key'; value: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" is already used by \`${e.other}\`.`,
    (e) =>
      e.what === 'key'
        ? 'Choose another key, or edit the existing file.'
        : 'Use `--id` to specify another id. If the existing file has the placeholder id `replace_me`, replace the placeholder instead.',
  ),
  'new/latest-not-allowed': defineError<{ environments: readonly string[] }>(
    (e) =>
      `\`promptsync.yaml\` does not allow \`latest\` in ${joinQuotedNames(e.environments, 'or')}, and a new prompt has no other version to pin.`,
    'Use `--environment` to specify an environment that allows `latest`.',
  ),

  // promptsync bundle
  'bundle/nothing-pinned': defineError<{ environment: string }>(
    (e) =>
      `None of the selected prompt files have a pin for the "${e.environment}" environment, so the bundle would be empty.`,
    (e) => `Choose another environment, select other prompts, or add a pin for "${e.environment}" to the prompt files.`,
  ),
  'bundle/not-active': defineError<{ environment: string }>(
    (e) =>
      `The file pins the "${e.environment}" environment, but no version is active there. promptsync did not write the bundle because this prompt would be missing from it.`,
    'To activate the pinned version, run `promptsync sync`. To leave this prompt out of the bundle, remove the pin from the file.',
  ),
  'bundle/too-deep': defineError<{ limit: number }>(
    (e) =>
      `The metadata of the active version is nested more than ${e.limit} levels deep, so promptsync cannot bundle it.`,
    'Reduce the nesting of lists and objects in the metadata.',
  ),
  'bundle/not-in-git': defineError<{ environment: string; pin: string }>(
    (e) =>
      `"${e.environment}" is pinned to \`${e.pin}\`, and only the service can provide the text of that version. An offline bundle requires a pin to \`latest\` or \`git:<ref>\`.`,
    'Run the command without `--offline`, or pin `git:<ref>` instead.',
  ),
  'bundle/composed': defineError<{ environment: string; part: string }>(
    (e) => `The text for "${e.environment}" refers to the prompt "${e.part}", whose text only the service can insert.`,
    'Run the command without `--offline`.',
  ),
  'bundle/uncommitted': defineWarning(
    'The prompt file has uncommitted changes, and the offline bundle includes them.',
    'Commit the file, then create the bundle again.',
  ),
  'bundle/contains-key': defineError<{
    /** The key of the prompt that contains the API key. Null if the key is in another part of the bundle. */
    prompt: string | null;
  }>(
    (e) =>
      `${e.prompt === null ? 'The bundle' : `The prompt "${e.prompt}"`} contains the API key, so promptsync did not write the bundle.`,
    'Remove the API key from the prompt and sync the new text. Someone might already have seen the key, so create a new one and revoke the old one.',
  ),
};
