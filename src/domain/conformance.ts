import type { DoctorPoint } from './doctor-point.ts';

/** The only environment in which `promptsync doctor --write` activates versions. */
export const DOCTOR_ENVIRONMENT = 'promptsync-doctor';

/** The input of the check whether a service behaves as promptsync needs it. */
export type ConformanceRequest = {
  /** The id of the prompt that the user sacrifices. Null if the check creates a prompt of its own. */
  readonly promptId: string | null;
  /** The id of a different prompt, whose versions must not become active in the first one. Null if there is none. */
  readonly otherPromptId: string | null;
  /** Lower-case letters and digits that no other run uses. They are part of the names of things that must not exist. */
  readonly runId: string;
};

/** The points of the check. If the run was interrupted, the points of the remaining checks are missing. */
export type ConformanceResult = { readonly points: readonly DoctorPoint[]; readonly isInterrupted: boolean };

/** The rules that a service must follow, in the order in which they are checked. */
export const CONFORMANCE_RULES = [
  'text',
  'metadata',
  'numbers',
  'newest',
  'activation',
  'unknownVersion',
  'otherVersion',
  'unknownPrompt',
  'wrongKey',
  'nothingActive',
] as const;
export type ConformanceRule = (typeof CONFORMANCE_RULES)[number];

/** One rule for a service. */
export type ServiceRequirement = {
  /** The name of the point. */
  readonly point: string;
  /** What the service must do, as a verb phrase such as `store texts unchanged`. */
  readonly request: string;
  /**
   * What promptsync cannot promise otherwise: one or more complete sentences. The first of them begins with `promptsync`,
   * so that it can follow a word.
   */
  readonly loss: string;
};

export type ServiceRequirements = Readonly<Record<ConformanceRule, ServiceRequirement>>;

/** Returns the hint for a service that breaks a rule. */
export function makeRequirementHint({ request, loss }: ServiceRequirement): string {
  return `Ask the operator of the service to ${request}. Otherwise, ${loss}`;
}
