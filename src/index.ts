/**
 * promptsync as a library: read prompt files, observe the service, plan, apply, report.
 *
 * ```ts
 * const { config } = await loadConfig({ workingDirectory: process.cwd(), environment: process.env });
 * const { files } = await readPrompts(config);
 * const provider = ledgerProvider({ service: connect({ … }), … });
 * const observation = await observe(provider, files.map((file) => wantedOf(file, desired)), { concurrency: 8 });
 * const plan = guard(makePlan(desired, observation, NO_HISTORY), guards);
 * const outcomes = await applyPlan(plan, provider, { … });
 * ```
 *
 * test/index.test.ts is a whole sync made so.
 */

// Configuration and prompt files, with every problem of every file.
export { loadConfig } from './config/load.ts';
export type { Config } from './config/config.ts';
export { readPrompts } from './files/read.ts';
export { parsePromptFile } from './files/parse.ts';
export { editPromptFile } from './files/edit.ts';
export type { Content, Pin, PromptFile } from './domain/prompt-file.ts';

// The service: its four calls, or whatever else is a provider.
export { connect } from './service/client.ts';
export { ServiceError, type PromptService } from './service/prompt-service.ts';
export { ledgerProvider } from './ledger/provider.ts';
export type { Provider, Writer, Written } from './domain/provider.ts';

// The walk: observe, plan, guard, apply.
export { observe, wantedOf } from './observing/observe.ts';
export type { Observation, Observed, Wanted } from './domain/observed.ts';
export type { KnownVersion } from './domain/versions.ts';
export { NO_HISTORY, type Desired, type History } from './domain/desired.ts';
export { makePlan, planPrompt } from './planning/make-plan.ts';
export { guard, type Guards } from './planning/guard.ts';
export { applyPlan } from './applying/apply-plan.ts';
export type { Change, Drift, Plan, PromptOutcome, PromptPlan } from './domain/plan.ts';

// The report, and what is printed from it.
export { makeReport } from './report/make-report.ts';
export { ownAcceptedWarnings, type AcceptedWarnings } from './domain/accepted-warnings.ts';
export type { Report } from './report/schema.ts';
export { renderText } from './report/text.ts';
export { renderMarkdown } from './report/markdown.ts';
export { renderHtml } from './report/html/page.ts';

// Problems: whatever is wrong, with what to do about it.
export { isError, ProblemError, type Problem } from './problem.ts';
