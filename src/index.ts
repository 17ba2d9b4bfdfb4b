/**
 * promptsync as a library: read prompt files, observe the service, plan, apply, render.
 *
 * ```ts
 * const { config } = await loadConfig({ workingDirectory: process.cwd(), environment: process.env });
 * const { files } = await readPrompts(config, { known: null, reserved: [] });
 * const observation = await observe(service, observeRequests(files, rules), { … });
 * const plan = makePlan(files, observation, rules);
 * const outcomes = await applyPlan(plan, { service, … });
 * ```
 *
 * test/index.test.ts is a whole sync made so.
 */

// 1. Configure: promptsync.yaml.
export { loadConfig, type ConfigRequest } from './config/load.ts';
export type { ConfigResult } from './config/parse.ts';
export type { Config, ServiceLocation } from './config/config.ts';
export type { Environment, MaxChanges, OnDrift } from './domain/policy.ts';

// 2. Read: Markdown files as prompts, with every problem of every file.
export { readPrompts, type ReadPromptsResult } from './files/read.ts';
export { parsePromptFile, type ParseResult } from './files/parse.ts';
export type { PromptPatterns } from './files/find.ts';
export type { EnvironmentRules } from './files/check.ts';
export type { Content, EnvironmentPin, Pin, PromptFile } from './domain/prompt-file.ts';
export type { Digest } from './domain/digest.ts';
export type { JsonObject, JsonValue } from './domain/json.ts';

// 3. Observe: what the service holds, in requests that never write.
export { connect, type CallReport, type ClientOptions, type ConnectedService } from './service/client.ts';
export {
  ServiceError,
  type Effect,
  type NewVersion,
  type PromptFields,
  type PromptService,
  type RemotePrompt,
} from './domain/prompt-service.ts';
export type { LedgerEntry, Stamp, Version, VersionRef } from './domain/version.ts';
export { observeRequests } from './commands/preparing/observe-files.ts';
export { observe, type ObserveOptions } from './observing/observe.ts';
export { observePrompt } from './observing/observe-prompt.ts';
export type { Observation, Observed, ObserveRequest } from './domain/observed.ts';

// 4. Plan: the changes that are needed, and what a guard refuses of them. Pure.
export { makePlan, planPrompt, type PlanRules } from './planning/make-plan.ts';
export type { Base } from './planning/find-drift.ts';
export { refuse, refuseAfresh, type Guards } from './planning/refuse.ts';
export type {
  Change,
  ContentAtRef,
  CreateVersion,
  Drift,
  DriftKind,
  FieldChange,
  FieldName,
  Holder,
  NewVersionRef,
  Plan,
  PlanStatus,
  PromptPlan,
  Provenance,
  SetActive,
  UpdatePrompt,
} from './domain/plan.ts';

// 5. Apply: the plan is written, prompt by prompt.
export { applyPlan } from './applying/apply-plan.ts';
export type { ApplyDependencies } from './applying/deps.ts';
export type { ChangeOutcome, ChangeStatus, OutcomeStatus, PromptOutcome } from './domain/outcome.ts';

// 6. Report: what was planned or done, as one value that every format is made from.
export { makeReport, type Run } from './report/make-report.ts';
export type { Report, ReportChange, ReportDrift, ReportProblem, ReportPrompt } from './report/schema.ts';

// 7. Render: the report as text, JSON or Markdown.
export { renderText, type TextOptions } from './report/text.ts';
export { renderStatus } from './report/status.ts';
export { renderHistory } from './report/history.ts';
export { renderHtml } from './report/html/page.ts';
export { renderJson } from './report/json.ts';
export { renderMarkdown, type MarkdownOptions, type MarkdownPage } from './report/markdown.ts';
export type { Limit } from './report/fit.ts';
export type { ServedTexts, Side, TextChange, Texts } from './domain/texts.ts';

// Edit: prompt files in place, no byte but those of the value.
export { editPromptFile, type EditResult, type FrontMatterEdit, type PromptEdits } from './files/edit.ts';
export { withText } from './files/front-matter.ts';

// Problems: whatever is wrong, with what to do about it.
export {
  isError,
  makeProblem,
  ProblemError,
  problemOf,
  type Place,
  type Problem,
  type ProblemCode,
  type Severity,
} from './problem.ts';
