import type { Problem } from '../problem.ts';
import type { PromptIdentity } from './prompt-file.ts';
import type { PlannedTextChange, TextChange } from './text-changes.ts';

/** The commands that write files in the repository. They never write to the service. */
export const FILE_COMMANDS = ['init', 'import', 'pull', 'promote', 'rollback'] as const;

/**
 * The values of `mode` in a report. `dry-run` and `apply` are the two forms of `sync`. All other values are command
 * names.
 */
export const REPORT_MODES = ['dry-run', 'apply', 'validate', 'status', 'history', ...FILE_COMMANDS] as const;

/** One change to a prompt file that a command makes, or would make in a dry run. */
export type FileEdit =
  | { readonly kind: 'create-file' }
  | {
      readonly kind: 'set-pin';
      readonly environment: string;
      /** The pin before the edit. Null if the file did not pin the environment. */
      readonly before: string | null;
      readonly after: string;
      /** The text that the environment serves now, and the text that it would serve after a sync of the edited file. */
      readonly serves?: PlannedTextChange;
    }
  | {
      readonly kind: 'set-field';
      /** The path of the field in the front matter, such as `name`, `variables` or `metadata.model`. */
      readonly field: string;
      /** The old value as JSON. Null if the field was absent. */
      readonly before: string | null;
      /** The new value as JSON. Null if the edit removes the field. */
      readonly after: string | null;
      /**
       * Whether the file and the service both changed the field. If so, the edited file contains both values between
       * conflict markers.
       */
      readonly conflict: boolean;
    }
  | {
      readonly kind: 'set-text';
      /** The source of the new text: an environment and the version that it serves, such as `production v7`. */
      readonly from: string;
      /**
       * The number of conflicts between the file and the service. The edited file contains both sides of each conflict
       * between conflict markers.
       */
      readonly conflicts: number;
      /**
       * The text of the file before and after the edit, and the environment whose text was merged into the file.
       */
      readonly texts?: TextChange;
    };

/** A prompt whose file a command edited, or would edit in a dry run. */
export type EditedPrompt = PromptIdentity & {
  readonly status: 'unchanged' | 'pending' | 'applied' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
};

/**
 * A file that `init` wrote or kept, such as promptsync.yaml. `extended` means that `init` added a line to the file, and
 * `kept` means that `init` did not change it.
 */
export type WrittenFile = { readonly path: string; readonly status: 'created' | 'overwritten' | 'extended' | 'kept' };

/** The commit that contains the edits of a command. */
export type EditCommit = {
  readonly commit: string;
  /** The branch of the commit. Null if HEAD is detached. */
  readonly branch: string | null;
  /** The pull request that proposes the commit, such as `#12`. */
  readonly pull_request?: string;
};

/**
 * The inputs of a three-way merge, without the final line feed. If the base is null, every difference is a conflict.
 */
export type ThreeTexts = { readonly base: string | null; readonly ours: string; readonly theirs: string };
/**
 * The side that wins if both sides changed the same lines or the same field. Null means that no side wins. The edited
 * file then contains both sides between conflict markers.
 */
export type PreferredSide = 'ours' | 'theirs' | null;
/** The labels of the two sides, which follow the conflict markers. */
export type ConflictLabels = { readonly ours: string; readonly theirs: string };
/** A merged text, and the number of conflicts in it. */
export type MergedText = { readonly text: string; readonly conflicts: number };
/** A function that performs a three-way merge line by line. */
export type MergeLines = (texts: ThreeTexts, side: PreferredSide, labels: ConflictLabels) => Promise<MergedText>;
