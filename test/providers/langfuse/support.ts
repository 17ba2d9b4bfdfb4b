import { onTestFinished } from 'vitest';
import { applyPlan } from '../../../src/applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../../../src/domain/plan.ts';
import type { PromptFile } from '../../../src/domain/prompt-file.ts';
import { makeReadRequest, observePrompts } from '../../../src/observing/observe-prompts.ts';
import { guardFreshPlan, guardPlan, type GuardSettings } from '../../../src/planning/guard-plan.ts';
import { connectLangfuse, type LangfuseService } from '../../../src/providers/langfuse/client.ts';
import { langfuseFileRules } from '../../../src/providers/langfuse/file-rules.ts';
import { makeLangfuseProvider } from '../../../src/providers/langfuse/provider.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../../doubles/langfuse-server.ts';
import { makePlan, planPrompt, rules, type RulesParts } from '../../planning/support.ts';

/** Waits for no time, but lets everything go on that is ready. */
const sleep = async (): Promise<void> => {};

/** Opens a client whose waits take no time. It is closed when the test ends. */
export function openClient(baseUrl: string): LangfuseService {
  const connection = { concurrency: 4, timeoutSeconds: 5, environment: {}, now: () => 0, random: () => 0, sleep };
  const keys = { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY };
  const client = connectLangfuse({ ...connection, baseUrl }, keys);
  onTestFinished(client.close);
  return client;
}

/** Opens a provider. `findUnselectedFile` finds the file of a missing part. */
export const openProvider = (baseUrl: string, findUnselectedFile: (id: string) => string | null = () => null) =>
  makeLangfuseProvider({ service: openClient(baseUrl), sleep, findUnselectedFile });

type SyncParts = RulesParts & {
  readonly guards?: Partial<GuardSettings>;
  readonly concurrency?: number;
  /** Called for each pause before the prompt is planned again. */
  readonly onPause?: () => void;
};

const NO_GUARDS: GuardSettings = { onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() };

/**
 * Observes, plans and applies like the command `sync`, but without git and without prompt files. A new version has the
 * commit message of the provenance in `history`.
 */
export async function sync(
  { baseUrl }: { readonly baseUrl: string },
  files: readonly PromptFile[],
  { guards: someGuards, concurrency = 4, onPause = () => {}, ...parts }: SyncParts = {},
): Promise<{ readonly plan: Plan; readonly outcomes: readonly PromptOutcome[] }> {
  const given = rules(parts);
  const guards = { ...NO_GUARDS, ...someGuards };
  const provider = openProvider(baseUrl);
  const getReadRequest = (file: PromptFile) => makeReadRequest(file, given);
  const observation = await observePrompts(provider, files.map(getReadRequest), { concurrency });
  const plan = guardPlan(makePlan(files, observation, given), guards);
  const outcomes = await applyPlan(plan, provider, {
    ...{ concurrency, stop: new AbortController().signal, isReviewed: guards.expectedPlan !== null },
    listParts: langfuseFileRules.listParts,
    pause: async () => onPause(),
    getReadRequest: ({ file }) => getReadRequest(file),
    planAgain: async (planned, seen) => guardFreshPlan(planPrompt(planned.file, seen, given), planned, guards),
  });
  return { plan, outcomes };
}
