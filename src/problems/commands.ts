import { escapeSelector, formatCount, quoteNames, shortenCommitId } from '../text.ts';
import { defineError, quoteShellWord, defineWarning } from './catalog-entry.ts';

/** The problems of the commands that write prompt files. */
export const COMMAND_PROBLEMS = {
  // promptsync promote
  'promote/nothing-active': defineError<{ environment: string }>(
    (e) => `No version of this prompt is active in "${e.environment}".`,
    'Sync this environment first, or promote a version to it. Then promote from it.',
  ),
  'promote/source-unclear': defineError<{
    environment: string;
    /** The pin as it is written in the file. Null if the file does not pin the environment. */
    pin: string | null;
  }>(
    (e) =>
      e.pin === null
        ? `The file does not pin "${e.environment}", which another configuration manages. promptsync does not know what to promote.`
        : `"${e.environment}" is pinned to ${e.pin}, and only the service of another configuration knows the text of that version.`,
    (e) => `Pin "${e.environment}" to \`latest\` or \`git:<ref>\`, then promote again.`,
  ),
  'promote/source-drifted': defineWarning<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, which does not match its pin. promptsync promotes ${e.serves} anyway.`,
    'To promote the pinned version instead, run promptsync sync first.',
  ),

  // promptsync rollback
  'rollback/nothing-before': defineError<{ environment: string; number: number }>(
    (e) => `promptsync could not find a version that "${e.environment}" served before v${e.number}.`,
    'Specify a version with --to N. To list the known versions, run `promptsync history KEY`.',
  ),
  'rollback/nothing-served': defineError<{ environment: string }>(
    (e) => `No version is active in "${e.environment}", so there is nothing to roll back.`,
    'Remove the pin for this environment from the file, or specify a version with --to N.',
  ),
  'rollback/shallow': defineError<{ environment: string }>(
    (e) => `This clone is shallow, so promptsync cannot read earlier pins for "${e.environment}".`,
    'Run `git fetch --unshallow`, or set `fetch-depth: 0` for actions/checkout. To roll back without the full history, specify a version with --to N.',
  ),
  'rollback/unclear-before': defineError<{
    environment: string;
    commit: string;
    /** The earlier pin. Null stands for `latest`, which means the text of the commit. */
    pin: string | null;
  }>(
    (e) =>
      `Commit ${shortenCommitId(e.commit)} pinned "${e.environment}" to ${describeFormerPin(e)}, but promptsync could not find a version that matches this pin.`,
    'Specify a version with --to N. Or pin a commit that has the text, as `git:<commit>`.',
  ),
  'rollback/unknown-version': defineError<{ number: number }>(
    (e) => `promptsync could not find version ${e.number} of this prompt.`,
    'Choose a version listed by `promptsync history KEY`. Or pin `git:<ref>`, which works even if the version is unknown.',
  ),

  // promptsync pull
  'pull/conflict': defineError<{ places: number }>(
    (e) =>
      `The file and the service have conflicting changes in ${formatCount(e.places, 'place')}. The file now contains both versions.`,
    'Resolve the conflicts marked with <<<<<<<, =======, and >>>>>>>. Or restore the file, then run the command again with --ours or --theirs.',
  ),
  'pull/would-conflict': defineError<{ places: number }>(
    (e) =>
      `The file and the service have conflicting changes in ${formatCount(e.places, 'place')}. A pull would write both versions to the file.`,
    'To keep only one side, use --ours or --theirs. To resolve the conflict in the file, run the command again without --dry-run.',
  ),
  'pull/pin-conflict': defineError<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but the file pins ${e.pin}. promptsync cannot tell which one is newer.`,
    'Run the command again with --ours to keep the pin in the file, or with --theirs to pin the active version.',
  ),
  'pull/several': defineError<{ environments: readonly string[] }>(
    (e) => `Somebody made different changes in several environments: ${e.environments.join(', ')}.`,
    'Pull one environment at a time with --environment NAME.',
  ),
  'pull/known-version': defineWarning<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, which was created from this repository, so promptsync did not pull its text.`,
    (e) =>
      `To restore the version that the file declares, run promptsync sync. To keep ${e.serves}, use promptsync rollback.`,
  ),
  'pull/kept-pin': defineWarning<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, which does not match its pin ${e.pin}. promptsync did not change the pin, and did not pull this text.`,
    (e) =>
      `To restore the pinned text, run \`promptsync sync\`. To keep the text of ${e.serves}, write it into the file, merge the change, and pin its commit.`,
  ),
  'pull/nothing-active': defineWarning<{ environment: string; served: string }>(
    (e) =>
      `"${e.environment}" no longer serves a version of this prompt. It served ${e.served} before. promptsync did not change the file.`,
    'To make the version active again, run `promptsync sync`. To stop managing the environment, delete its pin from the file.',
  ),
  'pull/config-not-mapping': defineError<{ environment: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but its config is not a mapping. A prompt file can store a config only if it is a mapping.`,
    'In the service, create a version whose config is a mapping. Or remove `metadata` from the file. promptsync then pulls only the text, and new versions keep the config from the service.',
  ),
  'pull/not-writable': defineError<{
    environment: string;
    serves: string;
    /** A sentence about the text of the version. */
    reason: string;
  }>(
    (e) => `"${e.environment}" serves ${e.serves}, which promptsync cannot write to a file: ${e.reason}`,
    'Create a corrected version in the service, then pull again. To replace the version with the text of the file, run `promptsync sync`.',
  ),

  // promptsync import
  'import/not-writable': defineError<{ reason: string }>(
    (e) => `promptsync cannot write this prompt to a file: ${e.reason}`,
    'Fix the prompt in the service, then import it again.',
  ),
  'import/environment-needed': defineError<{
    /** The environments that the existing prompt files pin. */
    known: readonly string[];
  }>(
    'promptsync does not know which environment to import from, because promptsync.yaml does not define any `environments`.',
    (e) =>
      e.known.length === 0
        ? 'Specify the environment to import from with --environment NAME.'
        : `Specify the environment to import from with --environment NAME. The prompt files pin these environments: ${quoteNames(e.known)}.`,
  ),
  'import/nothing-active': defineError<{
    environments: readonly string[];
    /** Whether the user named the environment. If so, promptsync did not look at other environments. */
    named: boolean;
  }>(
    (e) => `No version is active in ${quoteNames(e.environments)}, so there is no text to import.`,
    (e) =>
      e.named
        ? 'Make a version active there in the service, or import from another environment with promptsync import --environment NAME.'
        : 'Make a version active in one of them in the service. Or add an environment with an active version to `environments:` in promptsync.yaml. With promptsync init, use --environments instead.',
  ),
  'import/unpinned': defineWarning<{ environments: readonly string[] }>(
    (e) =>
      `The file does not pin ${quoteNames(e.environments)}, because it does not hold the text and the metadata that are served there, or because \`latest\` is not allowed there. With \`portable_pins\`, no pin can name a version.`,
    'To manage such an environment, pin a commit that holds its text, as `git:<commit>`. `promptsync import --commit` makes such commits. Merge them with a merge commit, because a squash merge would lose them.',
  ),
  'import/known': defineError<{ what: 'id' | 'key'; value: string; key: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" already belongs to ${e.other}.`,
    (e) =>
      e.what === 'id'
        ? `To pull the changes from the service into that file, run: promptsync pull ${quoteShellWord(escapeSelector(e.key))}`
        : 'Change one of the keys, either in the service or in that file.',
  ),
  'import/path-taken': defineError<{ path: string }>(
    (e) => `The file ${e.path} already exists.`,
    'Move the existing file. With promptsync import, you can also choose another folder with --dir.',
  ),
  'import/not-matched': defineError<{ path: string; pattern: string }>(
    (e) => `The path of the new file, ${e.path}, does not match any pattern under \`prompts:\`.`,
    (e) =>
      `Add a pattern such as \`${e.pattern}\` to \`prompts:\` in promptsync.yaml. With promptsync import, you can also choose another folder with --dir.`,
  ),
  'import/outside': defineError<{ folder: string }>(
    (e) => `The folder "${e.folder}" is outside the repository.`,
    'Choose a folder inside the repository with --dir. The path is relative to promptsync.yaml.',
  ),
  'import/symbolic-link': defineError<{ path: string }>(
    (e) => `The path of the new file contains a symbolic link: ${e.path}.`,
    'Replace the link with a folder, because promptsync does not write through symbolic links. With promptsync import, you can also choose another folder with --dir.',
  ),

  // promptsync new
  'new/taken': defineError<{ what: 'id' | 'key'; value: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" already belongs to ${e.other}.`,
    (e) =>
      e.what === 'key'
        ? 'Choose another key, or edit that file.'
        : 'Specify another id with --id. If that file has the placeholder id `replace_me`, you can also replace the id there first.',
  ),
  'new/latest-not-allowed': defineError<{ environments: readonly string[] }>(
    (e) =>
      `promptsync.yaml does not allow \`latest\` in ${quoteNames(e.environments)}, and a new prompt has no other version to pin.`,
    'Use --environment to name an environment that allows `latest`.',
  ),

  // promptsync bundle
  'bundle/nothing-pinned': defineError<{ environment: string }>(
    (e) => `None of the selected prompt files pins the environment "${e.environment}", so the bundle would be empty.`,
    'Choose another environment, select other prompts, or pin this environment in the files.',
  ),
  'bundle/not-active': defineError<{ environment: string }>(
    (e) =>
      `The file pins the environment "${e.environment}", but no version is active there. promptsync wrote no bundle, because it would lack this prompt.`,
    'Run promptsync sync to activate the pinned version. Or remove the pin from the file, and the bundle leaves this prompt out.',
  ),
  'bundle/too-deep': defineError<{ limit: number }>(
    (e) =>
      `The metadata of the active version is nested in more than ${e.limit} levels, so promptsync cannot bundle it.`,
    'Reduce the nesting depth of the lists and objects in the metadata.',
  ),
  'bundle/not-in-git': defineError<{ environment: string; pin: string }>(
    (e) =>
      `"${e.environment}" is pinned to ${e.pin}, and only the service knows the text of that version. An offline bundle needs the pin \`latest\` or \`git:<ref>\`.`,
    'Run the command without --offline, or pin `git:<ref>` instead.',
  ),
  'bundle/composed': defineError<{ environment: string; part: string }>(
    (e) =>
      `The text that "${e.environment}" pins includes the prompt "${e.part}", and only the service can insert its text.`,
    'Run the command without --offline.',
  ),
  'bundle/contains-key': defineError<{
    /** The key of the prompt that contains the API key. Null if the key is in another part of the bundle. */
    prompt: string | null;
  }>(
    (e) =>
      `${e.prompt === null ? 'The bundle' : `The prompt "${e.prompt}"`} contains the API key, so promptsync did not write the bundle.`,
    'Remove the API key from the prompt and sync the new text. Then replace the API key, because others may have read it.',
  ),
};

function describeFormerPin({ pin, commit }: { pin: string | null; commit: string }): string {
  return pin ?? `git:${shortenCommitId(commit)}`;
}
