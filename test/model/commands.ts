import type { ProviderName } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { OnDrift } from '../../src/domain/policy.ts';
import type { Effect } from '../../src/service/prompt-service.ts';

export const PROMPTS = ['p1', 'p2', 'p3'] as const;
export const ENVIRONMENTS = ['staging', 'production', 'canary'] as const;
export const TRACKING = 'promptsync';
export const LOOK = `${TRACKING}-look`;

/** Prompts are counted from 0 and around: a run has one, two or three. */
export type PromptIndex = number;

/** A pin before it meets a service: which number or id it is depends on the versions that there are by then. */
export type PinIdea =
  | { readonly pin: 'latest' }
  | { readonly pin: 'number' | 'id'; readonly nth: number }
  | { readonly pin: 'number-of-nothing'; readonly beyond: number }
  | { readonly pin: 'id-of-another'; readonly nth: number }
  | { readonly pin: 'git'; readonly tag: string };

/** What somebody does to a prompt's file. */
export type Edit =
  | { readonly edit: 'text'; readonly text: string }
  | { readonly edit: 'metadata'; readonly metadata: JsonObject | null }
  | { readonly edit: 'name'; readonly name: string }
  | { readonly edit: 'description'; readonly description: string | null }
  | { readonly edit: 'pin'; readonly environment: string; readonly idea: PinIdea | null }
  | { readonly edit: 'only-pin'; readonly environment: string; readonly idea: PinIdea }
  | { readonly edit: 'move' }
  | { readonly edit: 'remove' };

/** A text of somebody's own, or that of the prompt's file so many commits ago. */
export type TheirText = string | { readonly ofCommitsAgo: number };

/** What somebody does in the service, past git. `goesTo` is the environment that the new version is made active in. */
export type OutsideCommand =
  | {
      readonly kind: 'their-version';
      readonly prompt: PromptIndex;
      readonly text: TheirText;
      readonly metadata: JsonObject;
      readonly goesTo: string | null;
    }
  | {
      /** A copy of a version with all of its metadata, promptsync's included; null keeps text or metadata. */
      readonly kind: 'their-copy';
      readonly prompt: PromptIndex;
      readonly nth: number;
      readonly text: string | null;
      readonly metadata: JsonObject | null;
      readonly goesTo: string | null;
    }
  | { readonly kind: 'their-move'; readonly prompt: PromptIndex; readonly environment: string; readonly nth: number }
  | OwnCommand;

/** What can be done in one of the services alone; in the other nothing happens. */
export type OwnCommand =
  | { readonly kind: 'their-fields'; readonly prompt: PromptIndex; readonly fields: Readonly<Record<string, string>> }
  /** A label is on a further version, as two writers at once leave it. */
  | { readonly kind: 'their-label'; readonly prompt: PromptIndex; readonly environment: string; readonly nth: number }
  | { readonly kind: 'their-unlabel'; readonly prompt: PromptIndex; readonly environment: string }
  | { readonly kind: 'their-deletion'; readonly prompt: PromptIndex; readonly nth: number };

/** A moment in a run: so many calls after its start, its first call of applying, or its first create-version. */
export type Moment = { readonly from: 'start' | 'applying' | 'create'; readonly calls: number };

export type CallKind = 'read' | 'create' | 'update' | 'set';

/** When a call fails: before its effect, after it, or, for create-version, with an effect that comes later. */
export type FailsWhen = 'before' | 'after' | 'late';

export type Trouble =
  | {
      readonly trouble: 'fault';
      readonly call: CallKind;
      /** Which of the calls of this kind, from 0. */
      readonly nth: number;
      readonly when: FailsWhen;
      /** What is said of the effect, where the call failed before it. */
      readonly effect: Effect;
      /** Whether all later calls of this kind fail as well. */
      readonly lasting: boolean;
      /** A late effect comes after so many further calls and waits, and at the latest when the run has ended. */
      readonly delay: number;
    }
  /** The call is answered as if it had worked, and nothing was done. */
  | { readonly trouble: 'ignored'; readonly call: 'update' | 'set'; readonly nth: number }
  | { readonly trouble: 'killed'; readonly at: Moment; readonly when: FailsWhen; readonly delay: number }
  | { readonly trouble: 'stopped'; readonly at: Moment }
  /** `amid`: once the call has begun, so that what a write has read is old before it writes. */
  | { readonly trouble: 'disturbed'; readonly at: Moment; readonly by: OutsideCommand; readonly amid: boolean };

export type SyncWith = {
  readonly concurrency: number;
  /** How many prompts `--only` names; all where it is as many as there are. */
  readonly only: number;
  readonly troubles: readonly Trouble[];
  /** The base is the commit so many commits ago. */
  readonly base?: number | undefined;
  readonly onDrift?: OnDrift | undefined;
  /** Whether only the plan of a dry run right before may be carried out. */
  readonly reviewed?: boolean | undefined;
};

export type Command =
  | { readonly kind: 'edit'; readonly prompt: PromptIndex; readonly edits: readonly Edit[] }
  | { readonly kind: 'merge'; readonly prompt: PromptIndex; readonly ago: number; readonly edits: readonly Edit[] }
  | { readonly kind: 'revert'; readonly prompt: PromptIndex; readonly ago: number }
  | { readonly kind: 'tag'; readonly tag: string; readonly ago: number }
  | { readonly kind: 'dry-run' }
  | ({ readonly kind: 'sync' } & SyncWith)
  | OutsideCommand;

/** What holds for a whole run of commands. */
export type Setup = {
  readonly provider: ProviderName;
  readonly prompts: number;
  readonly environmentOrder: readonly string[] | null;
  readonly latestForbidden: readonly string[];
  /** `tidies`: trims the texts it is given. `drops`: keeps no metadata. */
  readonly service: 'faithful' | 'tidies' | 'drops';
  /** The versions that each prompt has before git knows it: the first is active in production, the last in staging. */
  readonly adopted: readonly { readonly text: string; readonly metadata: JsonObject }[];
  /** The text of a newer version that is active nowhere; null where there is none. */
  readonly draft: string | null;
};
