import type { Problem } from '../problem.ts';
import type { PromptIdentity } from './prompt-file.ts';
import type { PlannedTextChange, TextChange } from './text-changes.ts';

/** The commands whose work is files of the repository; they never write to the service. */
export const FILE_COMMANDS = ['init', 'import', 'pull', 'promote', 'rollback'] as const;

/** What a report is of: `dry-run` and `apply` are a sync, all others are called as their commands. */
export const REPORT_MODES = ['dry-run', 'apply', 'validate', 'status', 'history', ...FILE_COMMANDS] as const;

/** One change of a prompt file that a command makes, or would make. */
export type FileEdit =
  | { readonly kind: 'create-file' }
  | {
      readonly kind: 'set-pin';
      readonly environment: string;
      /** Null where the environment was not pinned. */
      readonly before: string | null;
      readonly after: string;
      /** What the environment serves, and would serve once the file is synced. */
      readonly serves?: PlannedTextChange;
    }
  | {
      readonly kind: 'set-field';
      /** `name`, `variables`, `metadata.model`. */
      readonly field: string;
      /** As JSON; null where the field is absent. */
      readonly before: string | null;
      readonly after: string | null;
      /** Both sides have changed it: the file has both, between conflict markers. */
      readonly conflict: boolean;
    }
  | {
      readonly kind: 'set-text';
      /** Where the text comes from: an environment and a version. */
      readonly from: string;
      /** How many places both sides have changed; the file has both of each, between conflict markers. */
      readonly conflicts: number;
      /** The text of the file before and after, and the environment that the other one comes from. */
      readonly texts?: TextChange;
    };

export type EditedPrompt = PromptIdentity & {
  readonly status: 'unchanged' | 'pending' | 'applied' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
};

/** A file that a command has written besides prompts, such as promptsync.yaml. */
export type WrittenFile = { readonly path: string; readonly status: 'created' | 'overwritten' | 'extended' | 'kept' };

/** The commit that holds the edits; the branch is null where HEAD is detached. The pull request, such as `#12`, has it. */
export type EditCommit = { readonly commit: string; readonly branch: string | null; readonly pull_request?: string };

/** Three texts without the line feed that ends a file; without a base all that differs is a conflict. */
export type ThreeTexts = { readonly base: string | null; readonly ours: string; readonly theirs: string };
/** Which side counts where both have changed the same; null: neither, the file gets both. */
export type PreferredSide = 'ours' | 'theirs' | null;
/** What stands behind the conflict markers: where each side comes from. */
export type ConflictLabels = { readonly ours: string; readonly theirs: string };
export type MergedText = { readonly text: string; readonly conflicts: number };
export type MergeLines = (texts: ThreeTexts, side: PreferredSide, labels: ConflictLabels) => Promise<MergedText>;
