import type { Committed, EditedPrompt, WrittenFile } from '../domain/edits.ts';
import {
  type Change,
  type ChangeOutcome,
  isNew,
  type Plan,
  type PromptOutcome,
  type PromptPlan,
} from '../domain/plan.ts';
import { type EnvironmentPin, pinText, type PromptFile } from '../domain/prompt-file.ts';
import type { Histories } from '../domain/history.ts';
import type { Problem } from '../problem.ts';
import type { Report, ReportChange, ReportPrompt } from './schema.ts';
import { newRef, wireDrift, wireRef } from './wire-drift.ts';
import { wireHistory } from './wire-history.ts';

/** What one run of a command has found and done. */
export type Run = {
  readonly mode: Report['mode'];
  /** How the service is called in reports; null when none was asked. */
  readonly service: string | null;
  readonly commit: string | null;
  /** The files that were selected; those without a plan or outcome were not attempted. */
  readonly files: readonly Named[];
  readonly plan: Plan | null;
  /** Null when nothing was to be written. */
  readonly outcomes: readonly PromptOutcome[] | null;
  /** What a command did to prompt files, where that is its work. */
  readonly edited?: readonly EditedPrompt[];
  readonly written?: readonly WrittenFile[];
  readonly committed?: Committed;
  /** What is known of the prompts' versions, where that is what was asked for. */
  readonly histories?: Histories;
  /** Where only what has changed since a commit was looked at. */
  readonly narrowed?: { readonly since: string; readonly notLookedAt: number };
  readonly problems: readonly Problem[];
};

/**
 * The public report of a run. Pure, and complete also when the run failed.
 * @param withEnvironments what each environment serves, in every mode: for the matrix of a page
 */
export function makeReport(run: Run, withEnvironments = run.mode === 'status'): Report {
  const prompts = promptsOf(run, withEnvironments);
  return {
    schema_version: 1,
    mode: run.mode,
    service: run.service,
    commit: run.commit,
    ...(run.narrowed === undefined ? {} : { changed_since: run.narrowed.since }),
    plan_digest: planDigestOf(run),
    summary: { ...summarise(prompts, run.mode), ...notLookedAt(run) },
    prompts,
    ...(run.written === undefined ? {} : { files: run.written }),
    ...(run.committed === undefined ? {} : { committed: run.committed }),
    problems: run.problems,
  };
}

function notLookedAt({ narrowed }: Run): { readonly not_looked_at?: number } {
  return narrowed === undefined ? {} : { not_looked_at: narrowed.notLookedAt };
}

/**
 * Where no prompt could be observed there is no plan, and none that could be applied where the service was not asked. A
 * history has none.
 */
function planDigestOf({ plan, service, histories, edited }: Run): string | null {
  if (plan === null || histories !== undefined || edited !== undefined) return null;
  // Nothing to do is a plan as well, and needs no service.
  if (plan.prompts.length === 0) return plan.digest;
  const blind = service === null || plan.prompts.every(({ observed }) => observed === null);
  return blind ? null : plan.digest;
}

function promptsOf(run: Run, withEnvironments: boolean): readonly ReportPrompt[] {
  const { plan, outcomes, histories } = run;
  const rows = (one: PromptPlan) =>
    withEnvironments ? { environments: one.file.pins.map((pin) => rowOf(pin, one)) } : {};
  if (run.edited !== undefined) return run.edited.map(fromEdited);
  if (outcomes !== null) return outcomes.map((one) => ({ ...fromOutcome(one), ...rows(one.plan) }));
  if (plan !== null && histories !== undefined) return plan.prompts.map((one) => withoutPlan(one, histories));
  if (plan !== null) return plan.prompts.map((one) => ({ ...fromPlan(one), ...rows(one) }));
  return run.files.map((file) => ({ ...nameOf(file), status: 'not_attempted', changes: [], drift: [], problems: [] }));
}

function fromEdited({ status, edits, problems, ...prompt }: EditedPrompt): ReportPrompt {
  return { ...nameOf(prompt), status, changes: [], edits, drift: [], problems };
}

function fromOutcome({ plan, status, changes, problems }: PromptOutcome): ReportPrompt {
  const drift = plan.drift.map(wireDrift);
  return { ...nameOf(plan.file), status, changes: changes.map(madeChange), drift, problems };
}

/** What would change is not what was asked: the rows tell where the service differs from the file. */
function withoutPlan(plan: PromptPlan, histories: Histories): ReportPrompt {
  const { file, observed, status, problems } = plan;
  const nothing = { ...nameOf(file), changes: [], drift: [] };
  if (observed === null) return { ...nothing, status, problems };
  const environments = file.pins.map((pin) => rowOf(pin, plan));
  return { ...nothing, status: 'unchanged', environments, ...wireHistory(file.id, histories), problems: [] };
}

function fromPlan({ file, status, changes, drift, problems }: PromptPlan): ReportPrompt {
  return { ...nameOf(file), status, changes: changes.map(plannedChange), drift: drift.map(wireDrift), problems };
}

type Named = Pick<PromptFile, 'path' | 'id' | 'key'>;

function nameOf({ path, id, key }: Named): Pick<ReportPrompt, keyof Named> {
  return { path, id, key };
}

function plannedChange(change: Change): ReportChange {
  switch (change.kind) {
    case 'create-version':
      return {
        kind: change.kind,
        digest: change.content.digest,
        ...(change.content.metadataDigest === undefined ? {} : { metadata_digest: change.content.metadataDigest }),
        ...(change.ref === undefined ? {} : { ref: change.ref }),
        change_summary: change.provenance.changeSummary ?? null,
      };
    case 'update-prompt':
      return { kind: change.kind, fields: change.fields };
    case 'set-active': {
      const before = change.before === null ? null : wireRef(change.before);
      const after = isNew(change.after) ? newRef(change.after) : wireRef(change.after);
      return { kind: change.kind, environment: change.environment, before, after };
    }
  }
}

function madeChange({ change, status, version }: ChangeOutcome): ReportChange {
  const planned = plannedChange(change);
  if (version === undefined || planned.kind === 'update-prompt') return { ...planned, status };
  if (planned.kind === 'create-version') return { ...planned, version: wireRef(version), status };
  return { ...planned, after: wireRef(version), status };
}

function rowOf(pinned: EnvironmentPin, plan: PromptPlan) {
  const { environment, pin } = pinned;
  const active = plan.observed?.active.get(environment) ?? null;
  const change = plan.changes.find((one) => one.kind === 'set-active' && one.environment === environment);
  const planned = change === undefined ? undefined : plannedChange(change);
  const serves = active === null ? null : wireRef(active);
  const inSync = planned === undefined && serves !== null && !isRefused(pinned, plan);
  const wanted = planned?.kind === 'set-active' ? planned.after : inSync ? serves : null;
  return { environment, pin: pinText(pin), active: serves, wanted, in_sync: inSync };
}

/** A pin without a change is in sync, or it is one that could not be resolved: then a problem stands at its place. */
function isRefused({ line, column }: EnvironmentPin, { problems }: PromptPlan): boolean {
  return problems.some((problem) => problem.line === line && problem.column === column);
}

/** Changes are counted where they are planned on a dry run, and where they were made on an apply. */
function summarise(prompts: readonly ReportPrompt[], mode: Report['mode']): Report['summary'] {
  const counted = prompts.flatMap(({ status, changes }) =>
    changes.filter((change) => (mode === 'apply' ? change.status === 'made' : status === 'pending')),
  );
  const kinds = (kind: ReportChange['kind']) => counted.filter((change) => change.kind === kind).length;
  const statuses = (status: ReportPrompt['status']) => prompts.filter((prompt) => prompt.status === status).length;
  return {
    prompts: prompts.length,
    unchanged: statuses('unchanged'),
    create_version: kinds('create-version'),
    update_prompt: kinds('update-prompt'),
    set_active: kinds('set-active'),
    blocked: statuses('blocked'),
    applied: statuses('applied'),
    failed: statuses('failed'),
    not_attempted: statuses('not_attempted'),
  };
}
