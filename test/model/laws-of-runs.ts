import { isDeepStrictEqual } from 'node:util';
import type { ChangeOutcome, PromptOutcome } from '../../src/domain/outcome.ts';
import { FIELDS, type PromptPlan } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { digestPlan } from '../../src/domain/digest-plan.ts';
import { ENVIRONMENTS, LOOK, TRACKING } from './commands.ts';
import { must } from './law.ts';
import type { Write } from './writes.ts';
import { mayFailLate, mustBeBlocked } from './limits.ts';
import { isWhat, mayStay, wantedBy, type Wanted } from './wanted.ts';
import { storedText } from './services.ts';
import { isReachable, versionOf, type World } from './world.ts';

/** What is reported of a prompt is what was done to it: no more, no less. */
export function checkTruth(world: World, outcome: PromptOutcome, writes: readonly Write[]): void {
  const { id } = outcome.plan.file;
  const own = writes.filter(({ promptId }) => promptId === id);
  for (const change of outcome.changes) checkChange(world, id, change, own);
  for (const write of own) {
    if (write.kind === 'set' && isToolsOwn(write.environment)) continue;
    const reported = outcome.changes.some((change) => change.status !== 'not_made' && isFor(change, write));
    must(reported, () => `a write to ${id} is not in the report: ${JSON.stringify(write)}`);
  }
  checkOrder(outcome);
  checkStatus(outcome, own);
}

/** Changes are made in order; what follows one that was not made, or whose making is unknown, is not begun. */
function checkOrder({ plan, changes }: PromptOutcome): void {
  const broken = changes.findIndex(({ status }) => status === 'not_made' || status === 'unknown');
  const later = broken === -1 ? [] : changes.slice(broken + 1);
  must(
    later.every(({ status }) => status === 'not_made'),
    () => `${plan.file.id} goes on after a failure: ${changes.map(({ status }) => status).join(', ')}`,
  );
}

/** What was reviewed is what is done, whatever has come between: `--expect-plan` refuses any other plan. */
export function checkReviewed(outcome: PromptOutcome, planned: PromptPlan): void {
  if (outcome.status !== 'applied' && outcome.status !== 'failed') return;
  const isSame = digestPlan([outcome.plan]) === digestPlan([planned]);
  must(isSame, () => `${planned.file.id} is carried out with another plan than the reviewed one`);
}

function checkStatus({ status, changes, problems, plan }: PromptOutcome, own: readonly Write[]): void {
  const { id } = plan.file;
  if (status === 'applied') {
    const done = changes.every((change) => change.status === 'made' || change.status === 'adopted');
    must(done, () => `${id} is applied, with ${changes.map((change) => change.status).join(', ')}`);
  }
  const refused = problems.some(({ code }) => code === 'guard/latest-not-allowed');
  must(!refused || own.length === 0, () => `${id} is refused by a guard and was written: ${JSON.stringify(own)}`);
  if (status === 'failed' || status === 'blocked') must(problems.length > 0, () => `${id} is ${status}, unexplained`);
  if (status === 'applied' || status === 'failed') return;
  // Looking is how a run comes to know that nothing is to be done, or that it may not be.
  const others = own.filter((write) => write.kind !== 'set' || !isToolsOwn(write.environment));
  must(others.length === 0, () => `${id} is ${status} and was written: ${JSON.stringify(others)}`);
}

function checkChange(world: World, promptId: string, outcome: ChangeOutcome, own: readonly Write[]): void {
  const { change, status, version } = outcome;
  const found = own.filter((write) => isFor(outcome, write));
  const what = (): string => `${change.kind} of ${promptId} is reported as ${status}; written: ${JSON.stringify(own)}`;
  if (status === 'not_made') must(found.length === 0, what);
  if (status === 'made') must(found.length > 0, what);
  if (status === 'adopted') must(versionOf(world, promptId, version?.id) !== undefined, what);
  if (change.kind === 'create-version' && (status === 'made' || status === 'adopted')) {
    const made = versionOf(world, promptId, version?.id);
    must(made !== undefined, what);
    const text = storedText(world.setup, change.content.text);
    must(isWhat(world, made, { kind: 'content', promptId, content: { ...change.content, text } }), what);
    if (status === 'made')
      must(
        found.some((write) => write.kind === 'create' && write.id === made.id),
        what,
      );
  }
  if (change.kind === 'set-active' && status === 'made') {
    must(
      found.some((write) => write.kind === 'set' && write.id === version?.id),
      what,
    );
  }
}

function isFor({ change }: ChangeOutcome, write: Write): boolean {
  if (change.kind === 'create-version') {
    const { text, metadata = {} } = change.content;
    return write.kind === 'create' && write.text === text && isDeepStrictEqual(write.metadata, metadata);
  }
  if (change.kind === 'set-active') return write.kind === 'set' && write.environment === change.environment;
  const fields = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  return write.kind === 'update' && isDeepStrictEqual(write.fields, Object.fromEntries(fields));
}

function isToolsOwn(environment: string): boolean {
  return environment === TRACKING || environment === LOOK;
}

/**
 * A run that nothing came between ends well: a prompt is refused only for what its pins say, and otherwise everything
 * is as the file wants it.
 */
export async function checkOutcome(world: World, outcome: PromptOutcome, mayBlock: boolean): Promise<void> {
  const { plan, status, problems } = outcome;
  const { file } = plan;
  const codes = problems.map(({ code }) => code).join(', ');
  if (status === 'blocked') return must(mayBlock, () => `${file.id} is blocked without need (${codes})`);
  if (status === 'failed' && mayFailLate(world, file)) return;
  must(status === 'applied' || status === 'unchanged', () => `${file.id} is ${status} in a clean run (${codes})`);
  must(!mustBeBlocked(world, file), () => `${file.id} is ${status}, with a pin that nothing can be`);
  await checkServed(world, file);
  must(isKept(world, file), () => `the text of ${file.id} has no version that a ledger names`);
}

/** With or without a pin, a file's text has a version: one that is served, or that will be found again. */
function isKept(world: World, file: PromptFile): boolean {
  const { setup, service } = world;
  if (setup.service === 'drops') return true;
  const wanted: Wanted = { kind: 'content', promptId: file.id, content: file.content };
  // Those of the base commit's file are read as well, where there is one.
  const active = ENVIRONMENTS.flatMap((environment) => service.active(file.id, environment) ?? []);
  const served = new Set(active.flatMap(({ id, stamp }) => [id, ...(stamp?.ledger ?? []).map((entry) => entry.id)]));
  const kept = service.versions(file.id).filter(({ id }) => served.has(id) || isReachable(world, file.id, id));
  return kept.some((version) => mayStay(world, version, wanted));
}

async function checkServed(world: World, file: PromptFile): Promise<void> {
  const stands = await world.service.readPrompt(file.id);
  for (const field of FIELDS) {
    const right = file[field] === undefined || file[field] === stands[field];
    must(right, () => `the ${field} of ${file.id} is ${stands[field]}, not ${file[field]}`);
  }
  for (const { environment, pin } of file.pins) {
    const active = world.service.active(file.id, environment);
    const right = active !== null && mayStay(world, active, wantedBy(world, file, pin));
    must(right, () => `${environment} of ${file.id} serves ${active?.id}, pinned to ${JSON.stringify(pin)}`);
  }
}
