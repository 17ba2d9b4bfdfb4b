import { escapeSelector, formatCount, joinCodeNames, joinQuotedNames, joinWords, shortenCommitId } from '../text.ts';
import { addArticle } from '../service-words.ts';
import { defineError, endSentence, makePromptCommand, quoteShellWord, defineWarning } from './catalog-entry.ts';

/** A prompt that has no prompt file, although it has one at the base. */
type GonePrompt = {
  id: string;
  key: string;
  base: string;
  /** What became of the file: deleted, no longer matched by a pattern, or used for another prompt id. */
  file: 'deleted' | 'unmatched' | 'other-id';
  /** The current path of the file if it is unchanged but its path now yields a different id. Otherwise null. */
  newPath: string | null;
  /** The pins that the file had last, such as `"staging" to "latest"`. */
  pins: readonly string[];
  /** The sentence that says what the service still serves. Empty if promptsync has not asked. */
  serves: string;
};

function describeGoneFile({ file, id, key, newPath }: GonePrompt): string {
  const subject = `file for "${key}"`;
  if (newPath !== null) return `The ${subject} no longer has the id "${id}", because its id comes from its path.`;
  switch (file) {
    case 'deleted':
      return `The ${subject} has been deleted.`;
    case 'unmatched':
      return `No pattern under \`prompts\` matches the ${subject} anymore.`;
    case 'other-id':
      return `The ${subject} no longer has \`id: ${id}\`.`;
  }
}

export const COMMAND_PROBLEMS = {
  // Prompts that are no longer managed
  'prompt/gone': defineWarning<GonePrompt>(
    (e, w) => {
      const pins = joinWords(e.pins, 'and') || `no ${w.environment}`;
      return `${describeGoneFile(e)} At \`${e.base}\`, it pinned ${pins}.${e.serves && ` ${e.serves}`}`;
    },
    ({ id, newPath }, w) => {
      // If the new path is unknown, the hint is the same for every cause, so that reports can group the prompts.
      const steps =
        newPath === null
          ? 'restore whichever is missing: its file, its `id`, or a pattern under `prompts` that matches the file'
          : `add \`id: ${id}\` to the front matter of \`${newPath}\``;
      return `To keep the prompt, ${steps}. If no application uses the prompt anymore, delete it in ${w.service} yourself, because promptsync never deletes prompts.`;
    },
  ),

  // promptsync promote
  'promote/nothing-active': defineError<{ environment: string }>(
    (e) => `No version of this prompt is active in "${e.environment}".`,
    (e) =>
      `Commit the files and activate a version in "${e.environment}" with \`promptsync sync\`. Then run this command again.`,
  ),
  'promote/not-pinned': defineError<{
    environment: string;
    allowsLatest: boolean;
  }>(
    (e) => `The file does not pin "${e.environment}", so nothing is live there.`,
    (e) =>
      e.allowsLatest
        ? `Add \`${e.environment}: latest\` under \`pins:\`, commit and sync the file, and then run this command again.`
        : `Run \`promptsync promote\` with the same prompts and \`--to ${quoteShellWord(e.environment)}\`, and commit and sync the files. Then run this command again.`,
  ),
  'promote/source-unclear': defineError<{
    environment: string;
    pin: string | null;
  }>(
    (e) =>
      e.pin === null
        ? `promptsync does not know which version to promote because "${e.environment}" is managed by another configuration and is not pinned in the file.`
        : `"${e.environment}" is pinned to \`${e.pin}\`, which identifies a version in a service that another configuration uses. promptsync cannot promote that version because it cannot read the version's text.`,
    (e) => `Pin "${e.environment}" to \`latest\` or \`git:<ref>\`, then run the command again.`,
  ),
  'promote/source-drifted': defineWarning<{
    environment: string;
    serves: string;
    /** The version that a sync would make active there. Null if the sync would create it from the file's text. */
    wanted: string | null;
    key: string;
  }>(
    (e) =>
      e.wanted === null
        ? `"${e.environment}" still serves ${e.serves}, because the text of the file has not been synced there yet. A promotion would use ${e.serves}.`
        : `"${e.environment}" serves ${e.serves}, but the file asks for ${e.wanted}. A promotion uses the version that "${e.environment}" serves now, not the one that the file asks for.`,
    (e) =>
      `To see the difference, run \`promptsync plan\`. If this clone is out of date, run \`git pull\`, and then run this command again. To promote ${e.wanted ?? 'the text of the file'} instead, commit the file, sync it with \`${makePromptCommand('sync', e.key, `--environment ${quoteShellWord(e.environment)}`)}\`, and run this command again.`,
  ),
  'promote/rolled-back': defineWarning<{ environment: string; from: string; number: number; key: string }>(
    (e) =>
      `"${e.environment}" was previously pinned to v${e.number}, but a later commit pinned it to an older version. promptsync did not change the file, because v${e.number} was probably rolled back.`,
    (e) =>
      `To promote v${e.number} again, specify the key of the prompt: \`${makePromptCommand('promote', e.key, `--from ${quoteShellWord(e.from)} --to ${quoteShellWord(e.environment)}`)}\``,
  ),
  'promote/older': defineWarning<{
    to: string;
    /** What the target environment serves or pins. The number is null if the version does not exist yet. */
    newer: { verb: 'serves' | 'pins'; number: number | null };
    from: string;
    promoted: { verb: 'serves' | 'pins'; number: number };
    /** Whether a sync would make another version active in the source environment. */
    isSourceUnsynced: boolean;
    /** Whether a sync would replace the newer version that the target environment serves. */
    isTargetUnsynced: boolean;
    key: string;
  }>(
    (e) => {
      const newer = e.newer.number === null ? 'a version that does not exist yet' : `v${e.newer.number}`;
      const target = e.newer.verb === 'serves' ? `"${e.to}" serves ${newer}` : `The file pins "${e.to}" to ${newer}`;
      const source = e.promoted.verb === 'serves' ? `that "${e.from}" serves` : `to which the file pins "${e.from}"`;
      return `${target}, which is newer than v${e.promoted.number} ${source}. promptsync did not change the file.`;
    },
    (e) => {
      const first = e.isSourceUnsynced
        ? `The pin for "${e.from}" has not been synced yet. To promote the version that it names, first run \`promptsync sync --environment ${quoteShellWord(e.from)}\`, and then run this command again. `
        : '';
      const keep = e.isTargetUnsynced ? `run \`${makePromptCommand('pull', e.key)}\`` : 'do nothing';
      return `${first}To keep the newer version, ${keep}. To promote the older version anyway, run the command again with \`--allow-older\`.`;
    },
  ),

  // promptsync rollback
  'rollback/nothing-before': defineError<{ environment: string; number: number; key: string }>(
    (e) =>
      `"${e.environment}" serves v${e.number}, and promptsync found no older version with different text to restore.`,
    (e) =>
      `Use \`--to N\` to specify a version. To list the known versions, run: \`${makePromptCommand('history', e.key)}\``,
  ),
  'rollback/already-back': defineWarning<{ environment: string; number: number }>(
    (e) =>
      `"${e.environment}" serves v${e.number}, not the version that the file asks for, so "${e.environment}" may already have been rolled back. This rollback selects a version before v${e.number}.`,
    (e) => `To keep v${e.number} in "${e.environment}", run the command again with \`--to ${e.number}\`.`,
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
  'rollback/unknown-version': defineError<{ number: number; key: string }>(
    (e) => `promptsync could not find version ${e.number} of this prompt.`,
    (e) =>
      `Choose one of the versions that \`${makePromptCommand('history', e.key)}\` lists. Alternatively, edit the file to pin \`git:<ref>\`, which uses the prompt's text from a commit or tag.`,
  ),
  'rollback/newer-files': defineError<{ branch: string; newer: string; paths: readonly string[] }>(
    (e) =>
      `promptsync made no changes because the remote has newer commits to ${joinCodeNames(e.paths, 'and')}. The newest commit on ${e.branch} is ${shortenCommitId(e.newer)}.`,
    (e) =>
      `To roll back without these commits, specify a version with \`--to N\`. To get the commits, first stash any uncommitted changes with \`git stash\`. Then switch to ${e.branch}, run \`git pull\`, and run this command again.`,
  ),
  'rollback/remote-silent': defineWarning<{ reason: string }>(
    (e) =>
      `promptsync could not check the remote for newer commits to these files, so it is continuing without this check. ${endSentence(e.reason)}`,
    'Run `promptsync history` to check that the version in the plan is the one that you want. If it is not, for example because this clone is out of date, specify the version with `--to N`.',
  ),
  'rollback/branch-exists': defineError<{ branch: string }>(
    (e) => `promptsync made no changes because the branch \`${e.branch}\` already exists.`,
    (e) =>
      `The branch is probably left over from an earlier rollback. Either add \`--branch ${quoteShellWord(`${e.branch}-2`)}\` to use another name, or check out another branch and delete the old one with \`git branch -D ${quoteShellWord(e.branch)}\`.`,
  ),
  'rollback/new-version': defineError<{ environment: string }>(
    (e) =>
      `After this rollback, "${e.environment}" would serve text that no existing version has, and a rollback with \`--now\` does not create versions.`,
    'Run the command without `--now`, then merge and sync the edited file.',
  ),
  'rollback/not-committed': defineError<{
    reason: string;
    /** The files that somebody else changed before promptsync could restore them. */
    kept: readonly string[];
  }>(
    (e) =>
      `promptsync could not commit the rollback, so it activated nothing. ${endSentence(e.reason)} ${e.kept.length === 0 ? 'promptsync restored the files.' : `promptsync did not restore ${joinCodeNames(e.kept, 'and')}, because another program, such as a git hook, changed the edited content.`}`,
    (e) => {
      const undo =
        e.kept.length === 0 ? '' : `undo the edits with \`git restore ${e.kept.map(quoteShellWord).join(' ')}\`, `;
      return `Fix the problem that git reported, ${undo}and then run the command again. If a hook rejects the commit message, run the command without \`--now\` and commit the edited file yourself. Then run the command with \`--now --to N\`, where N is the version that the file now pins.`;
    },
  ),
  'rollback/not-live': defineError<{
    environment: string;
    key: string;
    number: number | null;
  }>(
    (e) =>
      `The file now pins "${e.environment}" to ${e.number === null ? 'the earlier version' : `v${e.number}`}, but promptsync could not confirm that "${e.environment}" serves it.`,
    (e) => {
      const to = e.number === null ? '' : ` --to ${e.number}`;
      const options = `--environment ${quoteShellWord(e.environment)}${to} --now`;
      return `To make the version live, run: \`${makePromptCommand('rollback', e.key, options)}\``;
    },
  ),

  // promptsync pull
  'pull/conflict': defineError<{ places: number }>(
    (e, w) =>
      `The file and ${w.service} have conflicting changes in ${formatCount(e.places, 'place')}. The file now contains both versions, separated by conflict markers.`,
    (_, w) =>
      `Resolve the conflicts in the file and remove the conflict markers (\`<<<<<<<\`, \`=======\`, and \`>>>>>>>\`). Alternatively, restore the file to its state before the pull and run the command again with \`--ours\` to resolve the conflicts in favor of the file or \`--theirs\` in favor of ${w.service}.`,
  ),
  'pull/would-conflict': defineError<{ places: number }>(
    (e, w) =>
      `The file and ${w.service} have conflicting changes in ${formatCount(e.places, 'place')}. \`promptsync pull\` would write both versions to the file.`,
    (_, w) =>
      `To keep the file as it is, use \`--ours\`. To take the changes from ${w.service}, use \`--theirs\`. To merge the changes manually, run the command again without \`--dry-run\`.`,
  ),
  'pull/side-needed': defineError<{ places: number }>(
    (e, w) =>
      `The file and ${w.service} have conflicting changes in ${formatCount(e.places, 'place')}. The file allows conflict markers in its text, so promptsync did not add any and left the file unchanged.`,
    (_, w) =>
      `Run the command again with \`--ours\` to resolve the conflicts in favor of the file or with \`--theirs\` to resolve them in favor of ${w.service}.`,
  ),
  'pull/pin-conflict': defineError<{ environment: string; pin: string; serves: string }>(
    (e) =>
      `"${e.environment}" serves ${e.serves}, but the file pins \`${e.pin}\`. promptsync cannot tell whether the pin or the active version is newer.`,
    'Run the command again with `--ours` to keep the pin in the file or with `--theirs` to pin the active version.',
  ),
  'pull/several': defineError<{ environments: readonly string[] }>(
    (e, w) =>
      `The changes in ${w.service} differ between ${joinQuotedNames(e.environments, 'and')}, so promptsync cannot pull all of these changes into one file.`,
    (_, w) => `Use \`--environment NAME\` to pull one ${w.environment} at a time.`,
  ),
  'pull/known-version': defineWarning<{
    environment: string;
    number: number;
    /** The id of the commit that contains the text, if this clone lacks the commit. Otherwise null. */
    missingCommit: string | null;
    key: string;
  }>(
    (e) =>
      e.missingCommit === null
        ? `"${e.environment}" serves v${e.number}. A commit already contains the text of that version, so promptsync did not pull it.`
        : `"${e.environment}" serves v${e.number}, which was made from ${shortenCommitId(e.missingCommit)}. This clone does not have that commit, so promptsync did not pull the version.`,
    (e) =>
      `${e.missingCommit === null ? 'This clone may not have that commit yet, so run' : 'Run'} \`git pull\` first. If \`promptsync plan\` still shows a difference, run \`promptsync sync\` to activate the version that the file asks for. To pin v${e.number} instead, run \`${makePromptCommand('rollback', e.key, `--environment ${quoteShellWord(e.environment)} --to ${e.number}`)}\`.`,
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
    (_, w) =>
      `In ${w.service}, create a version whose \`config\` is an object, or remove \`metadata\` from the file. Without \`metadata\`, promptsync pulls only the text, and each new version keeps the \`config\` from ${w.service}.`,
  ),
  'pull/not-writable': defineError<{
    environment: string;
    serves: string;
    /** A sentence about the text of the version. */
    reason: string;
  }>(
    (e) => `"${e.environment}" serves ${e.serves}, which promptsync cannot write to a file. ${endSentence(e.reason)}`,
    (_, w) =>
      `Create a corrected version in ${w.service}, then pull again. Alternatively, run \`promptsync sync\` to replace the active version with the text in the file.`,
  ),

  // promptsync import
  'import/not-writable': defineError<{ reason: string }>(
    (e) => `promptsync cannot write this prompt to a file. ${endSentence(e.reason)}`,
    (_, w) => `Fix the prompt in ${w.service}, then import it again.`,
  ),
  'import/environment-needed': defineError<{
    /** The environments that the existing prompt files pin. */
    known: readonly string[];
  }>(
    (_, w) =>
      `promptsync does not know which ${w.environment} to import from because \`promptsync.yaml\` does not define any \`environments\`.`,
    (e, w) =>
      e.known.length === 0
        ? `Use \`--environment NAME\` to specify the ${w.environment} to import from.`
        : `Use \`--environment NAME\` to specify the ${w.environment} to import from. The prompt files pin ${joinQuotedNames(e.known, 'and')}.`,
  ),
  'import/nothing-active': defineError<{
    environments: readonly string[];
    /** Whether the user named the environment. If so, promptsync did not look at other environments. */
    named: boolean;
  }>(
    (e) => `No version is active in ${joinQuotedNames(e.environments, 'or')}, so there is no text to import.`,
    (e, w) =>
      e.named
        ? `In ${w.service}, activate a version in ${joinQuotedNames(e.environments, 'or')}. Alternatively, import from another ${w.environment} with \`--environment NAME\`.`
        : `In ${w.service}, activate a version in one of these ${w.environment}s, or choose ${addArticle(w.environment)} that already has an active version. To choose ${addArticle(w.environment)} for \`promptsync import\`, add it to \`environments:\` in \`promptsync.yaml\`. For \`promptsync init\`, pass it to \`--environments\`.`,
  ),
  'import/unpinned': defineWarning<{ environments: readonly string[] }>(
    (e, w) =>
      `promptsync left ${joinQuotedNames(e.environments, 'and')} unpinned in the new file. With \`portable_pins\`, an import can set only the pin \`latest\`, and only for ${addArticle(w.environment)} that allows \`latest\` and serves exactly the text and metadata of the new file.`,
    (_, w) =>
      `To manage an unpinned ${w.environment}, pin it to a commit that contains the text served there, for example \`git:9f2c1ab04d3e\`. An import with \`--commit\` creates such commits. Merge them with a merge commit, not a squash merge.`,
  ),
  'import/known': defineError<{ what: 'id' | 'key'; value: string; key: string; other: string }>(
    (e) => `The ${e.what} "${e.value}" is already used by \`${e.other}\`.`,
    (e, w) =>
      e.what === 'id'
        ? `To pull the changes from ${w.service} into \`${e.other}\`, run: \`promptsync pull ${quoteShellWord(escapeSelector(e.key))}\``
        : `Give one of the two prompts a different key, either in ${w.service} or in \`${e.other}\`.`,
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
    (e) => {
      if (e.what === 'key') return 'Choose another key, or edit the existing file.';
      return e.value === 'replace_me'
        ? `Replace \`replace_me\` in \`${e.other}\` with the id of the prompt in that file. Alternatively, use \`--id\` to specify the id of the new prompt.`
        : 'Use `--id` to specify another id.';
    },
  ),
  'new/latest-not-allowed': defineError<{ environments: readonly string[] }>(
    (e) =>
      `\`promptsync.yaml\` does not allow \`latest\` in ${joinQuotedNames(e.environments, 'or')}, and a new prompt has no other version to pin.`,
    (_, w) => `Use \`--environment\` to specify ${addArticle(w.environment)} that allows \`latest\`.`,
  ),

  // promptsync bundle
  'bundle/nothing-pinned': defineError<{ environment: string }>(
    (e, w) =>
      `None of the selected prompt files have a pin for the "${e.environment}" ${w.environment}, so the bundle would be empty.`,
    (e, w) =>
      `Choose another ${w.environment}, select other prompts, or add a pin for "${e.environment}" to the prompt files.`,
  ),
  'bundle/not-active': defineError<{ environment: string }>(
    (e, w) =>
      `The file pins the "${e.environment}" ${w.environment}, but no version is active there. promptsync did not write the bundle because this prompt would be missing from it.`,
    'To activate the pinned version, run `promptsync sync`. To leave this prompt out of the bundle, remove the pin from the file.',
  ),
  'bundle/too-deep': defineError<{ limit: number }>(
    (e) =>
      `The metadata of the active version is nested more than ${e.limit} levels deep, so promptsync cannot bundle it.`,
    'Reduce the nesting of lists and objects in the metadata.',
  ),
  'bundle/not-in-git': defineError<{ environment: string; pin: string }>(
    (e, w) =>
      `"${e.environment}" is pinned to \`${e.pin}\`, and only ${w.service} can provide the text of that version. An offline bundle requires a pin to \`latest\` or \`git:<ref>\`.`,
    'Run the command without `--offline`, or pin `git:<ref>` instead.',
  ),
  'bundle/composed': defineError<{ environment: string; part: string }>(
    (e, w) =>
      `The text for "${e.environment}" refers to the prompt "${e.part}". Only ${w.service} can insert the text of that prompt.`,
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
