import { type Desired, type History, NO_HISTORY, pinsInOrder } from '../domain/desired.ts';
import type { Observation, Observed } from '../domain/observed.ts';
import { type Change, type Plan, type PromptPlan, digestPlan } from '../domain/plan.ts';
import { type Pin, pinText, type PromptFile } from '../domain/prompt-file.ts';
import { makeProblem } from '../problem.ts';
import { changesFor, type PinContext, type Resolved } from './changes.ts';
import { findDrift } from './find-drift.ts';
import { latestProblems, promotionProblems } from './promotion.ts';

type PlanInput = Omit<Desired, 'files'>;

/** The changes that would make the service match the files. Pure: the same input gives the same plan. */
export function makePlan(desired: Desired, observation: Observation, history: History = NO_HISTORY): Plan {
  const plans = desired.files.map((file) => {
    const observed = observation.observed.get(file.id);
    return observed === undefined ? unobserved(file, observation.failed) : planPrompt(file, observed, desired, history);
  });
  const prompts = plans.toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1));
  return { prompts, digest: digestPlan(prompts) };
}

/** The plan of one prompt. Pins are in promotion order, and changes in the order in which they are written. */
export function planPrompt(
  written: PromptFile,
  observed: Observed,
  desired: PlanInput,
  history: History = NO_HISTORY,
): PromptPlan {
  const file = { ...written, pins: pinsInOrder(written.pins, desired) };
  const context = { file, observed, contentsAtRefs: desired.contentsAtRefs.get(file.id) ?? new Map() };
  const { pins, changes } = changesFor(context, history);
  const live = pins.flatMap(({ pin, after }) => (after === null ? [] : [{ pin, after }]));
  const forbidden = [
    ...latestProblems(file, desired.latestForbidden),
    ...promotionProblems(live, context, desired, history),
  ];
  const problems = [...pins.flatMap(({ problem }) => problem ?? []), ...forbidden];
  const status = problems.length > 0 ? 'blocked' : changes.length > 0 ? 'pending' : 'unchanged';
  const finds = forbidden.length > 0 ? [] : pinsToFind(pins);
  const drift = driftSince(desired, context, changes, history);
  const warnings = observed.problems.map((problem) => ({ ...problem, path: file.path }));
  return { file, observed, status, changes, drift, problems: [...problems, ...warnings], finds };
}

/** The base's file is planned for with the same observation; a prompt that the base does not know has no drift. */
function driftSince({ base }: PlanInput, context: PinContext, head: readonly Change[], history: History) {
  const file = base?.files.get(context.file.id);
  if (file === undefined) return [];
  const { observed } = context;
  const former = history.formerWants.get(file.id) ?? { pins: new Map(), fields: [] };
  return findDrift({ head, base: changesFor({ ...context, file }, history).changes, observed, former });
}

function unobserved(file: PromptFile, failed: Observation['failed']): PromptPlan {
  const problem = failed.get(file.id) ?? makeProblem('internal/unexpected', { reason: 'the prompt was not observed' });
  const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
  return { file, observed: null, status, changes: [], drift: [], problems: [problem], finds: [] };
}

/** None where a pin stays unresolved whatever is found: a refused prompt is not written, and finding a version writes. */
function pinsToFind(pins: readonly Resolved[]): readonly Pin[] {
  if (pins.some(({ problem, finds }) => problem !== null && !finds)) return [];
  const sought = pins.flatMap(({ pin: { pin }, finds }) => (finds ? [pin] : []));
  return [...new Map(sought.map((pin) => [pinText(pin), pin])).values()];
}
