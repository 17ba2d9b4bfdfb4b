/**
 * The promptsync library. It reads prompt files, observes the service, makes plans, applies them and renders reports.
 *
 * ```ts
 * const { config } = await loadConfig({ workingDirectory: process.cwd(), environment: process.env });
 * const { files } = await readPrompts(config);
 * const provider = makeFourCallProvider({ service: connectPromptService({ … }), … });
 * const observation = await observePrompts(provider, files.map((file) => makeReadRequest(file, desired)), { concurrency: 8 });
 * const plan = guardPlan(makePlan(desired, observation, NO_PLANNING_HISTORY), guards);
 * const outcomes = await applyPlan(plan, provider, { … });
 * ```
 *
 * See test/index.test.ts for a complete sync with the library.
 */

// The configuration and the prompt files. `readPrompts` reports every problem in every file.
export { loadConfig } from './workspace/load-config.ts';
export type { Config } from './workspace/config.ts';
export { readPrompts } from './workspace/read-prompts.ts';
export { parsePromptFile, type ParseSettings } from './workspace/parse-prompt-file.ts';
export { editPromptFile } from './editing/edit-prompt-file.ts';
export type { Pin, PromptFile } from './domain/prompt-file.ts';
export type { Content } from './domain/content.ts';

// The client of the four-call service, and the interface that all providers implement.
export { connectPromptService } from './providers/four-call/client.ts';
export { ServiceError } from './http/service-error.ts';
export type { PromptService } from './providers/four-call/prompt-service.ts';
export { makeFourCallProvider } from './providers/four-call/provider.ts';
export type { Provider, PromptWriter, WriteOutcome } from './providers/provider-interface.ts';

// The steps of a sync: observe, plan, guard, apply.
export { observePrompts, makeReadRequest } from './observing/observe-prompts.ts';
export type { Observation, ObservedPrompt, ReadRequest } from './domain/observed-prompt.ts';
export type { KnownVersion } from './domain/versions.ts';
export type { DesiredState } from './domain/desired-state.ts';
export { NO_PLANNING_HISTORY, type PlanningHistory, type PromptHistory } from './history/prompt-history.ts';
export { makePlan, planPrompt } from './planning/make-plan.ts';
export { guardPlan, type GuardSettings } from './planning/guard-plan.ts';
export { applyPlan } from './applying/apply-plan.ts';
export type { Change, Drift, Plan, PromptOutcome, PromptPlan } from './domain/plan.ts';

// The report, and the functions that render it.
export { makeReport } from './report/make-report.ts';
export { collectAcceptedWarnings, type AcceptedWarnings } from './domain/accepted-warnings.ts';
export type { Report } from './report/schema/report-schema.ts';
export { renderText } from './report/formats/terminal-text.ts';
export { renderMarkdown } from './report/formats/markdown.ts';
export { renderHtml } from './report/formats/html-page.ts';

// Problems, with hints that tell the user what to do.
export { isError, ProblemError, type Problem } from './problem.ts';
export { makeFailure, makeSuccess, type Result } from './domain/result.ts';
