import { escapeSelector } from '../text.ts';
import { defineError, quoteNames, quoteShellWord, shortenCommitId, defineWarning } from './catalog-entry.ts';

/** The problems of the commands that write prompt files. */
export const COMMAND_PROBLEMS = {
  // promptsync promote
  'promote/nothing-active': defineError<{ environment: string }>(
    (e) => `"${e.environment}" serves no version of this prompt.`,
    'Promote a version to this environment or sync it before you promote from it.',
  ),
  'promote/source-drifted': defineWarning<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves} instead of the version that its pin asks for. promptsync promotes ${e.serves}.`,
    'To promote the version that the file declares, sync first.',
  ),

  // promptsync rollback
  'rollback/nothing-before': defineError<{ environment: string; number: number }>(
    (e) => `promptsync knows no version before v${e.number} that "${e.environment}" served.`,
    'Name a version with --to N. `promptsync history KEY` lists the known versions.',
  ),
  'rollback/nothing-served': defineError<{ environment: string }>(
    (e) => `"${e.environment}" serves no version, so there is nothing to roll back.`,
    'Remove the pin of this environment from the file, or name a version with --to N.',
  ),
  'rollback/shallow': defineError<{ environment: string }>(
    (e) => `The clone is shallow, so promptsync cannot read the earlier pins of "${e.environment}".`,
    'Fetch the whole history (git fetch --unshallow; actions/checkout: `fetch-depth: 0`), or name a version with --to N.',
  ),
  'rollback/unclear-before': defineError<{
    environment: string;
    commit: string;
    /** The earlier pin. Null stands for `latest`, which means the text of the commit. */
    pin: string | null;
  }>(
    (e) =>
      `Commit ${shortenCommitId(e.commit)} pinned "${e.environment}" to ${describeFormerPin(e)}, but promptsync knows no version for this pin.`,
    (e) => `Pin the environment to ${describeFormerPin(e)} by hand, or name a version with --to N.`,
  ),
  'rollback/unknown-version': defineError<{ number: number }>(
    (e) => `promptsync knows no version ${e.number} of this prompt.`,
    'Name a version that `promptsync history KEY` lists, or pin `git:<ref>`, which always works.',
  ),

  // promptsync pull
  'pull/conflict': defineError<{ places: number }>(
    (e) => `The file and the service have both changed ${describePlaces(e)}. The file now contains both versions.`,
    'Choose between the lines marked with <<<<<<<, ======= and >>>>>>>. Or restore the file, and run the command again with --ours or --theirs.',
  ),
  'pull/would-conflict': defineError<{ places: number }>(
    (e) => `The file and the service have both changed ${describePlaces(e)}. A pull would write both versions.`,
    'Use --ours or --theirs to take one side, or run without --dry-run to resolve the conflict in the file.',
  ),
  'pull/pin-conflict': defineError<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but the file pins ${e.pin}. promptsync cannot tell which of the two is newer.`,
    'Run the command again with --ours to keep the pin in the file, or with --theirs to pin the version that is served.',
  ),
  'pull/several': defineError<{ environments: readonly string[] }>(
    (e) => `Somebody changed several environments in different ways: ${e.environments.join(', ')}.`,
    'Pull the environments one after the other with --environment.',
  ),
  'pull/known-version': defineWarning<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, which was made from this repository, so the pull takes no text from it.`,
    (e) => `Run a sync to restore the version that the file declares. To keep ${e.serves}, use promptsync rollback.`,
  ),
  'pull/config-not-mapping': defineError<{ environment: string; serves: string; service: string }>(
    (e) => `The config of ${e.serves}, which "${e.environment}" serves, is not a mapping, so no file can hold it.`,
    (e) =>
      `Create a version in ${e.service} whose config is a mapping. Or remove \`metadata\` from the file. Then a pull takes only the text, and new versions keep the config from ${e.service}.`,
  ),

  // promptsync import
  'import/not-writable': defineError<{ reason: string }>(
    (e) => `promptsync cannot write this prompt to a file: ${e.reason}`,
    'Correct the prompt in the service, then import it again.',
  ),
  'import/environment-needed': defineError(
    'promptsync.yaml has no `environments`, and you named no environment.',
    'Name the environment whose text to import with --environment NAME.',
  ),
  'import/nothing-active': defineError<{
    environments: readonly string[];
    /** Whether the user named the environment. If so, promptsync did not look at other environments. */
    named: boolean;
  }>(
    (e) => `No version is active in ${quoteNames(e.environments)}, so there is no text to import.`,
    (e) =>
      e.named
        ? 'Make a version active in this environment in the service, or import from another environment with promptsync import --environment NAME.'
        : 'Make a version active in one of these environments in the service. Or add an environment that serves a version under `environments:` in promptsync.yaml (promptsync init: --environments).',
  ),
  'import/known': defineError<{ what: 'id' | 'key'; value: string; key: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" already belongs to ${e.other}.`,
    (e) =>
      e.what === 'id'
        ? `To take the changes from the service into that file, run: promptsync pull ${quoteShellWord(escapeSelector(e.key))}`
        : 'Give each prompt a unique key, in the service or in that file.',
  ),
  'import/path-taken': defineError<{ path: string }>(
    (e) => `The file ${e.path} already exists.`,
    'Name another folder with --dir, or move the existing file.',
  ),
  'import/not-matched': defineError<{ path: string; pattern: string }>(
    (e) => `The new file would be ${e.path}, but no pattern under \`prompts:\` matches it.`,
    (e) =>
      `Name another folder with --dir, or add a pattern such as \`${e.pattern}\` to \`prompts:\` in promptsync.yaml.`,
  ),
  'import/outside': defineError<{ folder: string }>(
    (e) => `The folder "${e.folder}" is outside of the repository.`,
    'Name a folder inside the repository with --dir. The folder is relative to promptsync.yaml.',
  ),
  'import/symbolic-link': defineError<{ path: string }>(
    (e) => `The path of the new file leads through the symbolic link ${e.path}.`,
    'Name another folder with --dir. promptsync does not write through symbolic links.',
  ),
};

function describeFormerPin({ pin, commit }: { pin: string | null; commit: string }): string {
  return pin ?? `git:${shortenCommitId(commit)}`;
}

function describePlaces({ places }: { places: number }): string {
  return places === 1 ? 'the same place' : `the same ${places} places`;
}
