import type { Problem } from '../problem.ts';
import type { TypedPromptIdentity } from './prompt-file.ts';
import type { PlannedTextChange, TextChange } from './text-changes.ts';
import type { VersionRef } from './versions.ts';

/** The commands that write files in the repository. Only `rollback --now` also writes to the service. */
export const FILE_COMMANDS = ['init', 'import', 'new', 'pull', 'promote', 'rollback'] as const;

/** `dry-run` and `apply` are the two modes of `sync`. Every other mode is the name of a command. */
export const REPORT_MODES = ['dry-run', 'apply', 'validate', 'status', 'history', ...FILE_COMMANDS] as const;

/** One change to a prompt file that a command makes, or would make in a dry run. */
export type FileEdit =
  | { readonly kind: 'create-file' }
  | {
      readonly kind: 'set-pin';
      readonly environment: string;
      /** Null if the file did not pin the environment. */
      readonly before: string | null;
      readonly after: string;
      /** The number of the version that `after` pins. Undefined if `after` does not name a version by its id. */
      readonly versionNumber?: number;
      /** Null if the environment serves nothing. Undefined if the command did not read it. */
      readonly active?: VersionRef | null;
      /** The text that the environment serves now, and the text that it will serve after a sync of the edited file. */
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
      /** Whether both sides changed the field. The edited file then has both values between conflict markers. */
      readonly conflict: boolean;
    }
  | {
      readonly kind: 'set-text';
      /** The source of the new text: an environment and the version that it serves, such as `production v7`. */
      readonly from: string;
      /** The edited file contains both sides of each conflict, between conflict markers. */
      readonly conflicts: number;
      /** The file's text before and after the edit. `environment` is the one whose text was merged into the file. */
      readonly texts?: TextChange;
    };

export type EditedPrompt = TypedPromptIdentity & {
  readonly status: 'unchanged' | 'pending' | 'applied' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
};

/** A file that `init` wrote or left unchanged (`kept`). `extended` means that it added a line to an existing file. */
export type WrittenFile = { readonly path: string; readonly status: 'created' | 'overwritten' | 'extended' | 'kept' };

export type EditCommit = {
  readonly commit: string;
  /** Null if HEAD is detached. */
  readonly branch: string | null;
  /** The pull request that proposes the commit, such as `#12`. */
  readonly pull_request?: string;
};

/** One of the commits that `import --commit` makes. */
export type ImportCommit = {
  /** Null on a dry run. */
  readonly commit: string | null;
  readonly subject: string;
  /** The paths of its prompt files, relative to the folder of the configuration. */
  readonly paths: readonly string[];
};

/** The inputs of a three-way merge, without final line feeds. If `base` is null, every difference is a conflict. */
export type ThreeTexts = { readonly base: string | null; readonly ours: string; readonly theirs: string };
/** The side that wins a conflict. If it is null, the edited file contains both sides between conflict markers. */
export type PreferredSide = 'ours' | 'theirs' | null;
/** Each label follows a conflict marker, as `HEAD` does in `<<<<<<< HEAD`. */
export type ConflictLabels = { readonly ours: string; readonly theirs: string };
export type MergedText = { readonly text: string; readonly conflicts: number };
export type MergeLines = (texts: ThreeTexts, side: PreferredSide, labels: ConflictLabels) => Promise<MergedText>;
