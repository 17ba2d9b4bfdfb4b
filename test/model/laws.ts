import { isDeepStrictEqual } from 'node:util';
import {
  type ChangeOutcome,
  FIELDS,
  type PromptOutcome,
  type PromptPlan,
  computePlanDigest,
  isNewVersionRef,
  isVisibleChange,
  type SetActive,
} from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Content } from '../../src/domain/content.ts';
import type { VersionRef } from '../../src/domain/versions.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { omitFoundVersions } from '../../src/planning/guard-plan.ts';
import { ENVIRONMENTS, LOOK, type SyncWith, TRACKING } from './commands.ts';
import { contentsOf } from './history.ts';
import { isWhat, mayFailLate, mayStay, mustBeBlocked, type Wanted, wantedBy } from './limits.ts';
import type { Made, Write } from './port.ts';
import { note } from './situations.ts';
import { storedText, type World } from './world.ts';

/** The error for a broken law. It ends the run, and the report shows its message with the commands that led to it. */
export class LawBroken extends Error {
  override readonly name = 'LawBroken';
}

/** Throws a `LawBroken` unless the law holds. `what` is a function, because checks run millions of times. */
export function must(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new LawBroken(otherwise());
}

/**
 * Checks that promptsync creates no second version of a content (text and managed metadata). Must be called right before
 * the creation. For a file without metadata, any version that promptsync created for the text counts.
 */
export function checkCreate(world: World, files: readonly PromptFile[], promptId: string, made: Made): void {
  const { service, statistics } = world;
  if (made.isBaseline) return checkBaseline(world, promptId);
  const file = files.find(({ id }) => id === promptId);
  const contents = file === undefined ? [] : contentsOf(world.history, file);
  const wanted = contents.filter((content) => isOf(world, made, content));
  must(wanted.length > 0, () => `a version of ${promptId} is made of what no pin and no file asks for: ${made.text}`);
  const managed = wanted.some(({ metadata }) => metadata !== undefined);
  for (const version of service.versions(promptId)) {
    const { id, content } = version;
    const { text, metadata } = content;
    if (!service.isRecognised(world, version, made.text)) continue;
    // A version that the service rewrote counts only for exactly the sent content.
    if ((managed || text !== made.text) && !isDeepStrictEqual(metadata, made.metadata)) continue;
    const reason = service.forgotten(world, promptId, id);
    must(reason !== null, () => `a second version of one content: ${id} of ${promptId} has it already (${made.text})`);
    note(statistics, `made again: ${reason}`);
  }
}

/** Checks that promptsync creates a baseline only once: if there are versions but no findable managed one. */
function checkBaseline(world: World, promptId: string): void {
  const { service, statistics } = world;
  const versions = service.versions(promptId);
  must(versions.length > 0, () => `a baseline of ${promptId}, which has no versions`);
  // A version that the service rewrote does not count as managed.
  for (const { id } of versions.filter((version) => service.isRecognised(world, version, version.content.text))) {
    const reason = service.forgotten(world, promptId, id);
    must(reason !== null, () => `a baseline of ${promptId} is made although there is ${id}`);
    note(statistics, `baseline made although there is another version: ${reason}`);
  }
  note(statistics, 'baselines made');
}

/**
 * Checks that nothing unreviewed goes live: promptsync activates in an environment only what its pin in the synced commit
 * declares. It sets only pinned environments and its own.
 */
export function checkSet(
  world: World,
  files: readonly PromptFile[],
  promptId: string,
  environment: string,
  version: LedgerVersion,
): void {
  if (world.service.checkOwnSet(world, promptId, environment, version)) return;
  const file = files.find(({ id }) => id === promptId);
  const pin = file?.pins.find((one) => one.environment === environment);
  must(file !== undefined && pin !== undefined, () => `${environment} of ${promptId} is set without a pin`);
  const wanted = wantedBy(world, file, pin.pin);
  must(isWhat(world, version, wanted), () => {
    return `${environment} of ${promptId} is set to ${version.id} (${version.content.text}), which is not what its pin says`;
  });
}

/** Whether a new version has a content. Without managed metadata, it may keep the metadata of the version before it. */
function isOf({ service }: World, { text, metadata }: Made, content: Content): boolean {
  if (text !== content.text || (service.takesAny && content.metadata === undefined)) return text === content.text;
  return isDeepStrictEqual(metadata, content.metadata ?? {});
}

/** Checks that the report of a prompt matches the writes exactly. */
export function checkTruth(world: World, outcome: PromptOutcome, writes: readonly Write[]): void {
  const { id } = outcome.plan.file;
  const own = writes.filter(({ promptId }) => promptId === id);
  for (const change of outcome.changes) checkChange(world, id, change, own);
  for (const write of own) {
    if ((write.kind === 'set' && isToolsOwn(write.environment)) || isUndone(world, write)) continue;
    const reported = outcome.changes.some((change) => change.status !== 'not_made' && isFor(world, change, write));
    must(reported, () => `a write to ${id} is not in the report: ${JSON.stringify(write)}`);
  }
  checkOrder(world, outcome);
  checkStatus(outcome, own);
}

/**
 * Checks that promptsync makes changes in order and stops at the first change that is unmade or unknown. Changes of the
 * same write may be unknown together.
 */
function checkOrder({ service }: World, { plan, changes }: PromptOutcome): void {
  const broken = changes.findIndex(({ status }) => status === 'not_made' || status === 'unknown');
  const later = broken === -1 ? [] : changes.slice(broken + 1);
  const first = changes[broken];
  const hasCreated = changes.some(({ change, status }) => change.kind === 'create-version' && status === 'made');
  const isSameWrite = (one: ChangeOutcome): boolean =>
    service.movesInCreates && first !== undefined && mayShareWrite(first, one, hasCreated);
  must(
    later.every((one) => one.status === 'not_made' || isSameWrite(one)),
    () => `${plan.file.id} goes on after a failure: ${changes.map(({ status }) => status).join(', ')}`,
  );
}

/**
 * Whether a change may have been part of the same write as an earlier change that is unmade or unknown. A create can
 * move environments, and one write can move several environments to the same version. Each environment is read back on
 * its own.
 */
function mayShareWrite(first: ChangeOutcome, later: ChangeOutcome, hasCreated: boolean): boolean {
  if (first.change.kind === 'create-version') return later.status === first.status;
  if (first.change.kind !== 'set-active' || later.change.kind !== 'set-active') return false;
  if (!canBeSameVersion(later.change.after, first.change.after)) return false;
  return first.status === 'unknown' || (later.status === 'made' && hasCreated);
}

/** Whether two changes can activate the same version. The text of a `git:` pin and of the file can share a new version. */
function canBeSameVersion(one: SetActive['after'], other: SetActive['after']): boolean {
  if (isNewVersionRef(one) && isNewVersionRef(other)) return one.newContent.digest === other.newContent.digest;
  return isDeepStrictEqual(one, other);
}

/** Checks that promptsync applied the reviewed plan. `--expect-plan` must refuse any other plan. */
export function checkReviewed(outcome: PromptOutcome, planned: PromptPlan): void {
  if (outcome.status !== 'applied' && outcome.status !== 'failed') return;
  const isSame = computePlanDigest([omitFoundVersions(outcome.plan, planned)]) === computePlanDigest([planned]);
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
  // A run may probe to find out that it has nothing to do, or that it must not do anything.
  const others = own.filter((write) => write.kind !== 'set' || !isToolsOwn(write.environment));
  must(others.length === 0, () => `${id} is ${status} and was written: ${JSON.stringify(others)}`);
}

function checkChange(world: World, promptId: string, outcome: ChangeOutcome, own: readonly Write[]): void {
  const { change, status, version } = outcome;
  const found = own.filter((write) => isFor(world, outcome, write));
  const what = (): string => `${change.kind} of ${promptId} is reported as ${status}; written: ${JSON.stringify(own)}`;
  const isUnwritten = found.every((write) => isUndone(world, write));
  const isWritten = (kind: Write['kind'], id?: string) =>
    found.some((one) => one.kind === kind && 'id' in one && one.id === id);
  must(status !== 'not_made' || isUnwritten, what);
  must(status !== 'made' || found.length > 0, what);
  must(status !== 'adopted' || versionIn(world, promptId, version) !== undefined, what);
  // Any managed version carries the same ledger as a baseline.
  if (!isVisibleChange(change) && status === 'adopted') return;
  if (change.kind === 'create-version' && (status === 'made' || status === 'adopted')) {
    const made = versionIn(world, promptId, version);
    must(made !== undefined, what);
    const text = storedText(world.setup, change.content.text);
    must(isWhat(world, made, { kind: 'content', promptId, content: { ...change.content, text } }), what);
    must(status !== 'made' || isWritten('create', made.id), what);
  }
  must(change.kind !== 'set-active' || status !== 'made' || isWritten('set', version?.id), what);
}

/** Whether somebody else has moved an environment on after a create call of promptsync moved it. */
function isUndone({ service }: World, write: Write): boolean {
  if (!service.movesInCreates || write.kind !== 'set') return false;
  return service.active(write.promptId, write.environment)?.id !== write.id;
}

function versionIn({ service }: World, promptId: string, ref: VersionRef | undefined): LedgerVersion | undefined {
  return ref && service.version(promptId, ref.id);
}

function isFor(world: World, { change }: ChangeOutcome, write: Write): boolean {
  if (change.kind === 'create-version') {
    const kept = versionIn(world, write.promptId, change.metadataFrom)?.content.metadata ?? {};
    const { text, metadata = kept } = change.content;
    return write.kind === 'create' && write.text === text && isDeepStrictEqual(write.metadata, metadata);
  }
  if (change.kind === 'set-active') return write.kind === 'set' && write.environment === change.environment;
  const fields = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  return write.kind === 'update' && isDeepStrictEqual(write.fields, Object.fromEntries(fields));
}

export function isToolsOwn(environment: string): boolean {
  return environment === TRACKING || environment === LOOK;
}

/** What the model can predict about the sync of a prompt. */
export type Prediction = {
  readonly mayBlock: boolean;
  readonly mayRefuseMetadata: boolean;
  readonly mayForget: boolean;
  readonly mayTakeTwo: boolean;
};

/**
 * Checks a run without troubles. promptsync may refuse a prompt only because of its pins. Otherwise, the service must
 * match the file.
 */
export function checkOutcome(
  world: World,
  outcome: PromptOutcome,
  { mayBlock, mayRefuseMetadata, mayForget }: Prediction,
  { environments }: Pick<SyncWith, 'environments'>,
): void {
  const { plan, status, problems } = outcome;
  const scope = scopeOf(plan.file, environments);
  const { file } = scope;
  const codes = problems.map(({ code }) => code).join(', ');
  if (status === 'blocked') return must(mayBlock, () => `${file.id} is blocked without need (${codes})`);
  if (status === 'failed' && mayFailLate(world, file)) return;
  const isRefusal = problems.some(({ code }) => code === 'apply/unreviewed-metadata');
  if (status === 'failed' && isRefusal && mayRefuseMetadata) return;
  must(status === 'applied' || status === 'unchanged', () => `${file.id} is ${status} in a clean run (${codes})`);
  must(!mustBeBlocked(world, file), () => `${file.id} is ${status}, with a pin that nothing can be`);
  checkServed(world, scope);
  // The versions that the ledger needs may belong to the job of another environment.
  if (environments !== undefined && environments.length < ENVIRONMENTS.length) return;
  must(mayForget || isKept(world, file), () => `the text of ${file.id} has no version that a ledger names`);
  must(world.service.isRemembered(world, file), () => `nothing remembers what ${file.id} serves`);
}

/** Whether the text of a file has a version that is active or that promptsync will find again. */
function isKept(world: World, file: PromptFile): boolean {
  const { setup, service } = world;
  if (setup.service === 'drops') return true;
  const wanted: Wanted = { kind: 'content', promptId: file.id, content: file.content };
  // With a base, promptsync also reads the environments of its file.
  const active = ENVIRONMENTS.flatMap((environment) => service.active(file.id, environment) ?? []);
  const served = new Set(
    active.flatMap(({ id, record: stamp }) => [id, ...(stamp?.ledger ?? []).map((entry) => entry.id)]),
  );
  const kept = service.versions(file.id).filter(({ id }) => served.has(id) || service.isKept(file.id, id));
  return kept.some((version) => mayStay(world, version, wanted));
}

/** What a run with `--environment` must bring in sync. */
export type Scope = {
  /** The file with only the pins of the run. */
  readonly file: PromptFile;
  readonly hasFields: boolean;
};

/**
 * Returns the scope of a run. The fields belong to the last pinned environment, or without pins to the last one of all.
 * @param file the file with its pins in promotion order
 */
export function scopeOf(file: PromptFile, environments: SyncWith['environments']): Scope {
  if (environments === undefined) return { file, hasFields: true };
  const last = file.pins.at(-1)?.environment ?? ENVIRONMENTS[ENVIRONMENTS.length - 1]!;
  const pins = file.pins.filter(({ environment }) => environments.includes(environment));
  return { file: { ...file, pins }, hasFields: environments.includes(last) };
}

function checkServed(world: World, { file, hasFields }: Scope): void {
  const stands = world.service.fields(file.id);
  for (const field of stands === null || !hasFields ? [] : FIELDS) {
    const right = file[field] === undefined || file[field] === stands?.[field];
    must(right, () => `the ${field} of ${file.id} is ${stands?.[field]}, not ${file[field]}`);
  }
  for (const { environment, pin } of file.pins) {
    const active = world.service.active(file.id, environment);
    const right = active !== null && mayStay(world, active, wantedBy(world, file, pin));
    must(right, () => `${environment} of ${file.id} serves ${active?.id}, pinned to ${JSON.stringify(pin)}`);
  }
}
