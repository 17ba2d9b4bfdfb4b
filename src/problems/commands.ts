import { escapeSelector } from '../text.ts';
import { defineError, quoteNames, quoteShellWord, shortenCommitId, defineWarning } from './catalog-entry.ts';

/** What stops the commands that write prompt files. */
export const COMMAND_PROBLEMS = {
  // promptsync promote
  'promote/nothing-active': defineError<{ environment: string }>(
    (e) => `"${e.environment}" serves no version of this prompt.`,
    'Promote a version to it, or sync it, first.',
  ),
  'promote/source-drifted': defineWarning<{ environment: string; serves: string }>(
    (e) => `"${e.environment}" serves ${e.serves}, which is not what its pin asks for; that is what is promoted.`,
    'Sync first, to promote what the files say.',
  ),

  // promptsync rollback
  'rollback/nothing-before': defineError<{ environment: string; number: number }>(
    (e) => `No version older than v${e.number} is known that "${e.environment}" served.`,
    'Name one with --to N; `promptsync history KEY` lists those that are known.',
  ),
  'rollback/nothing-served': defineError<{ environment: string }>(
    (e) => `"${e.environment}" serves no version: there is nothing to go back from.`,
    'Take its pin out of the file, or name a version with --to N.',
  ),
  'rollback/shallow': defineError<{ environment: string }>(
    (e) => `The clone is shallow: what "${e.environment}" was pinned to before is not in it.`,
    'Fetch the whole history (git fetch --unshallow; actions/checkout: `fetch-depth: 0`), or name one with --to N.',
  ),
  'rollback/unclear-before': defineError<{
    environment: string;
    commit: string;
    /** Null: `latest`, which means the text of that commit. */
    pin: string | null;
  }>(
    (e) =>
      `Commit ${shortenCommitId(e.commit)} had "${e.environment}" at ${describeFormerPin(e)}, and no version is known that it means.`,
    (e) => `Pin it to ${describeFormerPin(e)} by hand, or name a version with --to N.`,
  ),
  'rollback/unknown-version': defineError<{ number: number }>(
    (e) => `No version ${e.number} of this prompt is known.`,
    '`promptsync history KEY` lists those that are known; the pin `git:<ref>` always works.',
  ),

  // promptsync pull
  'pull/conflict': defineError<{ places: number }>(
    (e) =>
      `The file and the service have changed the same ${e.places === 1 ? 'place' : `${e.places} places`}; the file has both.`,
    'Decide between the lines <<<<<<<, ======= and >>>>>>>, or put the file back and run again with --ours or --theirs.',
  ),
  'pull/would-conflict': defineError<{ places: number }>(
    (e) =>
      `The file and the service have changed the same ${e.places === 1 ? 'place' : `${e.places} places`}; a pull would write both.`,
    'Run it with --ours or --theirs to have one side of each, or without --dry-run to decide in the file.',
  ),
  'pull/pin-conflict': defineError<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves} and the file pins ${e.pin}: which of the two is the newer one is not known.`,
    'Run again with --ours, to keep what the file pins, or with --theirs, to pin what is served.',
  ),
  'pull/several': defineError<{ environments: readonly string[] }>(
    (e) => `Several environments were changed in different ways: ${e.environments.join(', ')}.`,
    'Pull them one after the other, with --environment.',
  ),
  'pull/known-version': defineWarning<{ environment: string; serves: string }>(
    (e) => `"${e.environment}" serves ${e.serves}, which was made from this repository: there is no text to take over.`,
    'A sync puts back what the file says; to keep that version, use promptsync rollback.',
  ),
  'pull/config-not-mapping': defineError<{ environment: string; serves: string; service: string }>(
    (e) => `The config of ${e.serves}, which "${e.environment}" serves, is not a mapping, so no file can hold it.`,
    (e) =>
      `Make a version in ${e.service} whose config is a mapping. Or remove \`metadata\` from the file: a pull then takes the text, and new versions keep ${e.service}'s config.`,
  ),

  // promptsync import
  'import/not-writable': defineError<{ reason: string }>(
    (e) => `No prompt file can hold what the service has: ${e.reason}`,
    'Correct it in the service, then import it again.',
  ),
  'import/environment-needed': defineError(
    'promptsync.yaml has no `environments`, and none was given.',
    'Say which environment serves the text to import: --environment NAME.',
  ),
  'import/nothing-active': defineError<{
    environments: readonly string[];
    /** Whether one was asked for, and others were not looked at. */
    named: boolean;
  }>(
    (e) => `No version is active in ${quoteNames(e.environments)}, so there is no text to import.`,
    (e) =>
      'Make a version active there in the service first, or ' +
      (e.named
        ? 'take the text of another environment: promptsync import --environment NAME.'
        : 'add the environment that serves one under `environments:` in promptsync.yaml (promptsync init: --environments).'),
  ),
  'import/known': defineError<{ what: 'id' | 'key'; value: string; key: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" is that of ${e.other} already.`,
    (e) =>
      e.what === 'id'
        ? `To take what the service has into that file, run: promptsync pull ${quoteShellWord(escapeSelector(e.key))}`
        : 'Give each prompt a key of its own, in the service or in that file.',
  ),
  'import/path-taken': defineError<{ path: string }>(
    (e) => `There is a file ${e.path} already.`,
    'Name another folder with --dir, or move that file.',
  ),
  'import/not-matched': defineError<{ path: string; pattern: string }>(
    (e) => `The file would be ${e.path}, which no pattern under \`prompts:\` matches.`,
    (e) =>
      `Name another folder with --dir, or add a pattern such as \`${e.pattern}\` to \`prompts:\` in promptsync.yaml.`,
  ),
  'import/outside': defineError<{ folder: string }>(
    (e) => `The folder "${e.folder}" leaves the repository.`,
    'Name a folder inside of it with --dir; it is relative to promptsync.yaml.',
  ),
  'import/symbolic-link': defineError<{ path: string }>(
    (e) => `On the way to the file is a symbolic link: ${e.path}.`,
    'Name another folder with --dir: nothing is written through links.',
  ),
};

function describeFormerPin({ pin, commit }: { pin: string | null; commit: string }): string {
  return pin ?? `git:${shortenCommitId(commit)}`;
}
