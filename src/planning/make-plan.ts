import { knownVersions } from '../domain/known-versions.ts';
import type { Observation, Observed } from '../domain/observed.ts';
import type { Change, ContentAtRef, Drift, Plan, PromptPlan, SetActive } from '../domain/plan.ts';
import { type EnvironmentPin, type PromptFile } from '../domain/prompt-file.ts';
import { dropsMetadata, headOf } from '../domain/ownership.ts';
import { refOf } from '../domain/version.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { compareFields } from './compare-fields.ts';
import { contentsToCreate } from './contents-to-create.ts';
import { digestPlan } from './digest-plan.ts';
import { findDrift, type Base } from './find-drift.ts';
import { latestProblems } from './offline.ts';
import { promotionProblems, type PromotionRules } from './promotion.ts';
import { resolvePin, type PinContext, type Resolution } from './resolve-pin.ts';

/** What planning depends on besides files and observation. */
export type PlanRules = {
  /** In promotion order; null when the order is the file's own. */
  readonly environmentOrder: readonly string[] | null;
  readonly latestForbidden: readonly string[];
  readonly trackingEnvironment: string;
  /** By prompt id, then by ref. */
  readonly contentsAtRefs: ReadonlyMap<string, ReadonlyMap<string, ContentAtRef | Problem>>;
  /** What drift is told by; null where nothing is asked about it. */
  readonly base: Base | null;
} & PromotionRules;

type Resolved = { readonly pin: EnvironmentPin; readonly resolution: Resolution };

/** The changes that would make the service match the files. Pure: the same input gives the same plan. */
export function makePlan(files: readonly PromptFile[], observation: Observation, rules: PlanRules): Plan {
  return joinPlans(
    files.map((file) => {
      const observed = observation.observed.get(file.id);
      return observed === undefined ? unobserved(file, observation.failed) : planPrompt(file, observed, rules);
    }),
  );
}

/** The plans of prompts as one. */
export function joinPlans(plans: readonly PromptPlan[]): Plan {
  const prompts = plans.toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1));
  return { prompts, digest: digestPlan(prompts) };
}

/** The plan of one prompt. Pins are in promotion order, and changes in the order in which they are written. */
export function planPrompt(written: PromptFile, observed: Observed, rules: PlanRules): PromptPlan {
  const file = { ...written, pins: inOrder(written.pins, rules) };
  const context = contextOf(file, observed, rules);
  const resolved = resolve(context);
  const { changes } = resolved;
  const resolutions = resolved.pins.map(({ resolution }) => resolution);
  const live = resolved.pins.flatMap(({ pin, resolution: one }) =>
    one.kind === 'set' ? [{ pin, after: one.after }] : [],
  );
  const promotions = promotionProblems(live, context, rules);
  const refused = [...latestProblems(file, rules.latestForbidden), ...promotions];
  const problems = [...resolutions.flatMap(problemOf), ...refused];
  const status = problems.length > 0 ? 'blocked' : changes.length > 0 ? 'pending' : 'unchanged';
  const lookups = refused.length > 0 ? [] : lookupsOf(resolutions);
  const drift = driftSince(rules, context, changes);
  return { file, observed, status, changes, drift, problems: [...problems, ...warnings(context, rules)], lookups };
}

function resolve(context: PinContext) {
  const { file, observed } = context;
  const pins = file.pins.map((pin): Resolved => ({ pin, resolution: resolvePin(pin, context) }));
  const creates = contentsToCreate(
    context,
    pins.map(({ resolution }) => resolution),
  );
  const activations = pins.flatMap((one) => activation(one, observed));
  const changes: readonly Change[] = [...creates, ...compareFields(file, observed.prompt), ...activations];
  return { pins, changes };
}

/** The base's file is planned for with the same observation; a prompt that the base does not know has no drift. */
function driftSince({ base }: PlanRules, context: PinContext, head: readonly Change[]): readonly Drift[] {
  const file = base?.files.get(context.file.id);
  if (base === null || file === undefined) return [];
  const { known } = context;
  return findDrift({ promptId: file.id, head, base: resolve({ ...context, file }).changes, known }, base);
}

/** The plan of a prompt that could not be observed. */
export function unobserved(file: PromptFile, failed: Observation['failed']): PromptPlan {
  const problem = failed.get(file.id) ?? makeProblem('internal/unexpected', { reason: 'the prompt was not observed' });
  const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
  return { file, observed: null, status, changes: [], drift: [], problems: [problem], lookups: [] };
}

function contextOf(file: PromptFile, observed: Observed, rules: PlanRules): PinContext {
  return {
    file,
    observed,
    known: knownVersions(observed),
    contentsAtRefs: rules.contentsAtRefs.get(file.id) ?? new Map(),
    head: headOf(observed, rules.trackingEnvironment),
    forgets: dropsMetadata(observed, rules.trackingEnvironment),
  };
}

/** Promotion order; environments that the configuration does not list keep the file's order. */
function inOrder(pins: readonly EnvironmentPin[], { environmentOrder }: PlanRules): readonly EnvironmentPin[] {
  if (environmentOrder === null) return pins;
  return pins.toSorted((a, b) => environmentOrder.indexOf(a.environment) - environmentOrder.indexOf(b.environment));
}

function activation({ pin, resolution }: Resolved, observed: Observed): readonly SetActive[] {
  if (resolution.kind !== 'set') return [];
  const active = observed.active.get(pin.environment) ?? null;
  const before = active === null ? null : refOf(active);
  return [{ kind: 'set-active', environment: pin.environment, before, after: resolution.after }];
}

function problemOf(resolution: Resolution): readonly Problem[] {
  return resolution.kind === 'blocked' ? [resolution.problem] : [];
}

/** None where a pin stays unresolved whatever they show: a refused prompt is not written, and looking writes. */
function lookupsOf(resolutions: readonly Resolution[]): readonly string[] {
  if (resolutions.some((one) => one.kind === 'blocked' && one.lookups.length === 0)) return [];
  return [...new Set(resolutions.flatMap((one) => (one.kind === 'in-sync' ? [] : one.lookups)))];
}

function warnings({ forgets, file }: PinContext, { trackingEnvironment }: PlanRules): readonly Problem[] {
  if (!forgets) return [];
  return [makeProblem('service/drops-metadata', { environment: trackingEnvironment }, { path: file.path })];
}
