import { addArticle, type Words } from '../service-words.ts';

/** The only environment in which `promptsync doctor --write` activates versions. */
export const DOCTOR_ENVIRONMENT = 'promptsync-doctor';

/** The name of the point about what the conformance check left behind. The text output shows it even with `--quiet`. */
export const REMAINS_POINT = 'left behind';

export type ConformanceRequest = {
  /** The id of the throwaway prompt. Null if the check creates its own prompt. */
  readonly promptId: string | null;
  /** The ids of other prompts. Their versions must not become active in the prompt of the check. */
  readonly otherPromptIds: readonly string[];
  /** Lower-case letters and digits, unique to this run, for names that must not exist in the service. */
  readonly runId: string;
};

/** The rules that a service must follow, in the order in which promptsync checks them. */
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

export type ServiceRequirement = {
  /** The name of the point. */
  readonly point: string;
  /** What the service must do, as a verb phrase such as `store prompt text unchanged`. */
  readonly request: string;
  /**
   * What promptsync cannot guarantee otherwise: full sentences. The first begins with `promptsync`, so that it can follow
   * "Otherwise,".
   */
  readonly loss: string;
};

export type ServiceRequirements = Readonly<Record<ConformanceRule, ServiceRequirement>>;

/** The rules whose wording is the same for every service. */
const COMMON_REQUIREMENTS = {
  numbers: {
    point: 'version numbers',
    request: 'give each new version a higher number than any earlier version',
    loss: "promptsync cannot tell which version is newer, so rollbacks and promptsync's own records may be wrong.",
  },
  activation: {
    point: 'activation',
    request: 'return a newly activated version within ten seconds',
    loss: 'promptsync reports the activation as failed, although the service might still apply it.',
  },
  unknownVersion: {
    point: 'unknown version',
    request: 'reject an unknown version with 404, without changing anything',
    loss: 'promptsync cannot detect a pin to a version that does not exist.',
  },
  unknownPrompt: {
    point: 'unknown prompt',
    request: 'return 404 for an unknown prompt',
    loss: 'promptsync cannot detect a wrong id in a prompt file.',
  },
  wrongKey: {
    point: 'wrong key',
    request: 'reject an unknown key with 401 or 403',
    loss: 'promptsync cannot guarantee that only people who have the key can change what applications receive.',
  },
} as const satisfies Partial<ServiceRequirements>;

/** Each provider adds the rules that name its own fields. */
export function makeSharedRequirements(words: Words): Omit<ServiceRequirements, 'metadata' | 'newest'> {
  const environment = addArticle(words.environment);
  return {
    ...COMMON_REQUIREMENTS,
    text: {
      point: 'text',
      request: 'store prompt text unchanged',
      loss: `promptsync cannot sync a prompt whose text ${words.service} changes, because it never activates a version whose text differs from the text that it sent.`,
    },
    otherVersion: {
      point: "another prompt's version",
      request: 'return 404 for a version that belongs to another prompt, and change nothing',
      loss: `promptsync cannot guarantee that the version served by ${environment} belongs to the right prompt.`,
    },
    nothingActive: {
      point: 'no active version',
      request: `return no version for ${environment} that has no active version`,
      loss: 'promptsync might assume that a version is already active there, and skip the first activation.',
    },
  };
}

export function makeRequirementHint({ request, loss }: ServiceRequirement, { service }: Words): string {
  return `Ask the operator of ${service} to ${request}. Otherwise, ${loss}`;
}
