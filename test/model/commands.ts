import type { PromptType } from '../../src/domain/chat.ts';
import type { ProviderName } from '../../src/providers/provider-list.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { OnDrift } from '../../src/domain/policy.ts';
import type { Effect } from '../../src/http/service-error.ts';

export const PROMPTS = ['p1', 'p2', 'p3'] as const;
export const ENVIRONMENTS = ['staging', 'production', 'canary'] as const;
export const TRACKING = 'promptsync';
export const LOOK = `${TRACKING}-look`;
/** A ref that can move, such as a branch. All other refs are tags. Both can be set to another commit at any time. */
export const MOVING_REF = 'next';

/** The index of a prompt, from 0. It wraps around, because a sequence has one, two or three prompts. */
export type PromptIndex = number;

/** A pin without its number or id. These depend on the versions that exist when the edit runs. */
export type PinIdea =
  | { readonly pin: 'latest' }
  | { readonly pin: 'number' | 'id'; readonly nth: number }
  | { readonly pin: 'number-of-nothing'; readonly beyond: number }
  | { readonly pin: 'id-of-another'; readonly nth: number }
  | { readonly pin: 'git'; readonly tag: string };

/** An edit of a prompt file. */
export type Edit =
  | { readonly edit: 'text'; readonly text: string }
  | { readonly edit: 'metadata'; readonly metadata: JsonObject | null }
  | { readonly edit: 'name'; readonly name: string }
  | { readonly edit: 'description'; readonly description: string | null }
  /** Corrects the type in the file, or changes it to the type that the prompt does not have. */
  | { readonly edit: 'type'; readonly isRight: boolean }
  | { readonly edit: 'pin'; readonly environment: string; readonly idea: PinIdea | null }
  | { readonly edit: 'only-pin'; readonly environment: string; readonly idea: PinIdea }
  | { readonly edit: 'move' }
  | { readonly edit: 'remove' };

/** The text of a foreign version: a text of its own, or the text of the prompt file at an earlier commit. */
export type TheirText = string | { readonly ofCommitsAgo: number };

/** A change that somebody makes in the service outside of git. `goesTo` is the environment that gets the new version. */
export type OutsideCommand =
  | {
      readonly kind: 'their-version';
      readonly prompt: PromptIndex;
      readonly text: TheirText;
      readonly metadata: JsonObject;
      readonly goesTo: string | null;
    }
  | {
      /** A copy of a version with all metadata, including the version record. `null` keeps the text or the metadata. */
      readonly kind: 'their-copy';
      readonly prompt: PromptIndex;
      readonly nth: number;
      readonly text: string | null;
      readonly metadata: JsonObject | null;
      readonly goesTo: string | null;
    }
  | { readonly kind: 'their-move'; readonly prompt: PromptIndex; readonly environment: string; readonly nth: number }
  | OwnCommand;

/** A change that is possible in only one of the services. The other one ignores it. */
export type OwnCommand =
  | { readonly kind: 'their-fields'; readonly prompt: PromptIndex; readonly fields: Readonly<Record<string, string>> }
  /** Puts a label on a second version, as two concurrent writers can. */
  | { readonly kind: 'their-label'; readonly prompt: PromptIndex; readonly environment: string; readonly nth: number }
  | { readonly kind: 'their-unlabel'; readonly prompt: PromptIndex; readonly environment: string }
  | { readonly kind: 'their-deletion'; readonly prompt: PromptIndex; readonly nth: number };

/** A moment in a run: a number of calls after its start, its first call while applying, or its first create-version. */
export type Moment = { readonly from: 'start' | 'applying' | 'create'; readonly calls: number };

export type CallKind = 'read' | 'create' | 'update' | 'set';

/** When a call fails: before its effect, after it, or (for create-version) with a late effect. */
export type FailsWhen = 'before' | 'after' | 'late';

export type Trouble =
  | {
      readonly trouble: 'fault';
      readonly call: CallKind;
      /** The index of the call among the calls of this kind, from 0. */
      readonly nth: number;
      readonly when: FailsWhen;
      /** The effect that the error claims, if the call failed before its effect. */
      readonly effect: Effect;
      /** Whether all later calls of this kind fail as well. */
      readonly lasting: boolean;
      /** The number of further calls and waits before a late effect. It happens at the latest at the end of the run. */
      readonly delay: number;
    }
  /** The service answers as if the call had worked, but does nothing. */
  | { readonly trouble: 'ignored'; readonly call: 'update' | 'set'; readonly nth: number }
  | { readonly trouble: 'killed'; readonly at: Moment; readonly when: FailsWhen; readonly delay: number }
  | { readonly trouble: 'stopped'; readonly at: Moment }
  /** `amid`: after the call has begun, so that a write is based on stale data. */
  | { readonly trouble: 'disturbed'; readonly at: Moment; readonly by: OutsideCommand; readonly amid: boolean };

export type SyncWith = {
  readonly concurrency: number;
  /** The number of prompts that `--only` names. If it names all prompts, the run has no `--only`. */
  readonly only: number;
  readonly troubles: readonly Trouble[];
  /** How many commits before the planned one the base is. Undefined: the run has the default base. */
  readonly base?: number | undefined;
  readonly onDrift?: OnDrift | undefined;
  /** Whether the sync may apply only the plan of a dry run right before. */
  readonly reviewed?: boolean | undefined;
  /** The environments that `--environment` names. Undefined: the run has no `--environment`. */
  readonly environments?: readonly string[] | undefined;
};

export type Command =
  | { readonly kind: 'edit'; readonly prompt: PromptIndex; readonly edits: readonly Edit[] }
  | { readonly kind: 'merge'; readonly prompt: PromptIndex; readonly ago: number; readonly edits: readonly Edit[] }
  | { readonly kind: 'revert'; readonly prompt: PromptIndex; readonly ago: number }
  | { readonly kind: 'tag'; readonly tag: string; readonly ago: number }
  /** A plan of the files of an earlier commit, as on a branch that is behind. */
  | { readonly kind: 'dry-run'; readonly ago: number; readonly base?: number | undefined }
  | ({ readonly kind: 'sync' } & SyncWith)
  /** One sync of the same commit for each environment, in promotion order. */
  | ({ readonly kind: 'jobs' } & Pick<SyncWith, 'concurrency' | 'only' | 'base' | 'onDrift'>)
  | OutsideCommand;

/** The settings of a whole sequence of commands. */
export type Setup = {
  readonly provider: ProviderName;
  readonly prompts: number;
  /** The chat prompts. The others are text prompts. */
  readonly chatPrompts: readonly string[];
  readonly environmentOrder: readonly string[] | null;
  readonly latestForbidden: readonly string[];
  /** The environment in which a version must go live before it does in this one. */
  readonly promotionSources: Readonly<Record<string, string>>;
  /** `tidies`: the service trims texts. `drops`: the service drops metadata. */
  readonly service: 'faithful' | 'tidies' | 'drops';
  /** The versions of each prompt before its import. The first is active in production, the last in staging. */
  readonly adopted: readonly { readonly text: string; readonly metadata: JsonObject }[];
  /** The text of a newer version that is active nowhere. `null`: there is none. */
  readonly draft: string | null;
};

/** Returns the type of a prompt as long as its file has the right type. */
export function typeOf({ chatPrompts }: Setup, promptId: string): PromptType {
  return chatPrompts.includes(promptId) ? 'chat' : 'text';
}
