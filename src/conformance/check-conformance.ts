import { DOCTOR_ENVIRONMENT, makeRequirementHint } from './requirements.ts';
import {
  type DoctorPoint,
  makeErrorPoint,
  makeOkPoint,
  makeProblemPoint,
  makeUncheckedPoint,
  makeWarningPoint,
} from '../domain/doctor-point.ts';
import { makeProblem, type Problem, type ProblemCode, ProblemError, toProblem, wordProblem } from '../problem.ts';
import { addArticle } from '../service-words.ts';
import type { CheckRemains, ConformanceTarget, CreatedSample, NewSample, SampleVersion } from './conformance-target.ts';
import { listSamples, SAMPLE_METADATA, type TextSample } from './text-samples.ts';
import { makeSamplePoints, type SampleResult, type Visibility } from './check-samples.ts';
import { returnNullIfMissing, ServiceError } from '../http/service-error.ts';
import { READ_BACK_WAITS_MS, type RetryPolicy } from '../http/retry.ts';
import { findLostVersion, isLostResponse } from '../providers/write-outcome.ts';

/** The clock that the check uses, and the unique part of names that must not exist in the service. */
type CheckSettings = Pick<RetryPolicy, 'now' | 'sleep'> & { readonly runId: string };

/** The check in progress. */
type ConformanceRun = {
  readonly target: ConformanceTarget;
  readonly options: CheckSettings;
  /** The number of the version that an earlier run left in `DOCTOR_ENVIRONMENT`. */
  earlierNumber: number | null;
  readonly results: SampleResult[];
  /** All versions that the check created, or may have created. */
  readonly versions: CreatedSample[];
  environment: CheckRemains['environment'];
  /** The number of requests to which the service did not respond. */
  unanswered: number;
  /** What the service failed to show within `MAX_VISIBILITY_MS`. The check then reads it only once for each sample. */
  readonly neverSeen: { newest: boolean; active: boolean };
  readonly points: DoctorPoint[];
};

/**
 * Checks whether a service follows the rules that promptsync depends on, with versions of one prompt in
 * `DOCTOR_ENVIRONMENT`. If the run is interrupted or the service stops responding, skips the remaining points, but
 * still lists what it left behind.
 */
export async function checkConformance(
  target: ConformanceTarget,
  options: CheckSettings,
): Promise<readonly DoctorPoint[]> {
  const sleep: RetryPolicy['sleep'] = (milliseconds) =>
    options.sleep(milliseconds).catch(() => {
      throw new ProblemError(makeProblem('apply/interrupted'));
    });
  const run: ConformanceRun = {
    target,
    options: { ...options, sleep },
    earlierNumber: null,
    results: [],
    versions: [],
    environment: 'unchanged',
    unanswered: 0,
    neverSeen: { newest: false, active: false },
    points: [],
  };
  // Clean up even if promptsync has a bug that makes a check throw.
  const points = await makeRulePoints(run).catch((error: unknown) => [
    makeProblemPoint(OTHERS, describeError(error, run)),
  ]);
  return [...points, await target.cleanUp(run)];
}

/** The name of the point for whatever the check could not determine. */
const OTHERS = 'other points';

/** Throws only because of a bug. */
async function makeRulePoints(run: ConformanceRun): Promise<readonly DoctorPoint[]> {
  const ending = await runChecks(run);
  const { results, earlierNumber, points } = run;
  const evidence = { results, earlierNumber, isComplete: ending === null };
  const samplePoints = makeSamplePoints(evidence, run.target);
  return [...samplePoints, ...points, ...(ending === null ? [] : [ending])];
}

/** Returns null, or the point about the reason why some checks did not run. */
async function runChecks(run: ConformanceRun): Promise<DoctorPoint | null> {
  try {
    const earlier = await readOrNull(() => readOwnEnvironment(run.target), run);
    run.earlierNumber = earlier?.number ?? null;
    for (const sample of listSamples(run.options.runId)) run.results.push(await trySample(sample, run));
    await checkRefusals(run);
    return null;
  } catch (error) {
    if (isInterruption(error)) return makeUncheckedPoint(OTHERS, 'the run was interrupted');
    return makeProblemPoint(OTHERS, describeError(error, run));
  }
}

/** Returns the problem of a failed request in the words of the provider. */
function describeError(error: unknown, { target }: ConformanceRun): Problem {
  return wordProblem(toProblem(error), target.words);
}

function isInterruption(error: unknown): boolean {
  return toProblem(error).code === 'apply/interrupted';
}

/** The number of requests without a response after which the check stops. Each of them can take four attempts. */
const MAX_UNANSWERED = 2;

/** A connection that times out counts as unreachable. */
const NO_RESPONSE_CODES: readonly ProblemCode[] = ['service/timeout', 'service/unreachable'];

/** Rethrows the error if it must stop the check. */
function noteFailure(error: unknown, run: ConformanceRun): void {
  countUnanswered(error, run);
  rethrowIfStopped(error, run);
}

function countUnanswered(error: unknown, run: ConformanceRun): void {
  if (NO_RESPONSE_CODES.includes(toProblem(error).code)) run.unanswered += 1;
}

function rethrowIfStopped(error: unknown, run: ConformanceRun): void {
  if (isInterruption(error) || run.unanswered >= MAX_UNANSWERED) throw error;
}

/** The HTTP statuses with which a service refuses the content of a version. Any other status has a different cause. */
const CONTENT_STATUSES: readonly ServiceError['status'][] = [400, 413, 422];

/** Creates a version, activates it and reads it back. Throws only if the check must stop. */
async function trySample(sample: TextSample, run: ConformanceRun): Promise<SampleResult> {
  const { target, versions } = run;
  const newestBefore = await readOrNull(() => target.readNewestId(), run);
  let created: NewSample;
  try {
    created = await target.createVersion(sample.text, SAMPLE_METADATA);
  } catch (error) {
    countUnanswered(error, run);
    // Look for the version before the check stops, so that the list of what it left behind contains the version.
    if (isLostResponse(error)) await findPossibleVersion(newestBefore, run);
    rethrowIfStopped(error, run);
    const isContentRefused = error instanceof ServiceError && CONTENT_STATUSES.includes(error.status);
    return { sample, created: null, problem: describeError(error, run), isContentRefused };
  }
  versions.push({ id: created.id, number: created.number });
  return observeSample(sample, created, run);
}

/** Activates a new version, and reads it back. */
async function observeSample(sample: TextSample, created: NewSample, run: ConformanceRun): Promise<SampleResult> {
  const { neverSeen } = run;
  const { readNewestId, readVersion } = run.target;
  const newest = await awaitValue(readNewestId, (id) => id === created.id, neverSeen.newest, run);
  if (newest.kind === 'never') neverSeen.newest = true;
  const { active, served } = await tryToActivate(created.id, run);
  const version = readVersion === null ? null : await readOrNull(() => readVersion(created.id), run);
  return { sample, created, stored: [version, served].filter((content) => content !== null), newest, active };
}

/** Activates a version, and waits until `DOCTOR_ENVIRONMENT` serves it. */
async function tryToActivate(
  versionId: string,
  run: ConformanceRun,
): Promise<{ readonly active: Visibility; readonly served: SampleVersion | null }> {
  const { target, neverSeen } = run;
  try {
    await trackActivation(() => target.activate(versionId), run);
  } catch (error) {
    noteFailure(error, run);
    return { active: { kind: 'failed', problem: describeError(error, run) }, served: null };
  }
  const active = await awaitValue(
    () => readOwnEnvironment(target),
    (version) => version?.id === versionId,
    neverSeen.active,
    run,
  );
  if (active.kind === 'never') neverSeen.active = true;
  return { active, served: active.kind === 'seen' ? active.value : null };
}

/** Sends a request that activates a version if the service accepts it. */
async function trackActivation(send: () => Promise<unknown>, run: ConformanceRun): Promise<void> {
  try {
    await send();
    run.environment = 'changed';
  } catch (error) {
    if (isLostResponse(error) && run.environment === 'unchanged') run.environment = 'uncertain';
    throw error;
  }
}

/** Some services answer 404 if no version is active. */
function readOwnEnvironment({ readActive }: ConformanceTarget): Promise<SampleVersion | null> {
  return returnNullIfMissing(readActive(DOCTOR_ENVIRONMENT), 'service/prompt-not-found');
}

/** Records the version that a create request with a lost response may have created. */
async function findPossibleVersion(newestBefore: string | null, run: ConformanceRun): Promise<void> {
  const find = async (): Promise<string | null> => {
    const id = await readOrNull(() => run.target.readNewestId(), run);
    return id === newestBefore ? null : id;
  };
  run.versions.push({ id: await findLostVersion(find, run.options.sleep), number: null });
}

/** Returns null if the read fails. Throws only an error that must stop the whole check. */
async function readOrNull<Value>(read: () => Promise<Value | null>, run: ConformanceRun): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    noteFailure(error, run);
    return null;
  }
}

/** The maximum time to wait for a write to become visible, in milliseconds. */
const MAX_VISIBILITY_MS = 30_000;
/** The wait between the reads that follow those of a sync, in milliseconds. */
const LATE_WAIT_MS = 1_000;

/** Polls a value on the schedule of a sync, and measures how long it takes. Throws only if the check must stop. */
async function awaitValue<Value>(
  read: () => Promise<Value>,
  isExpected: (value: Value) => boolean,
  readsOnce: boolean,
  run: ConformanceRun,
): Promise<Visibility<Value>> {
  const { now, sleep } = run.options;
  const startTime = now();
  try {
    for (let reads = 1; ; reads += 1) {
      const value = await read();
      const milliseconds = Math.round(now() - startTime);
      if (isExpected(value)) return { kind: 'seen', value, reads, milliseconds };
      if (readsOnce || milliseconds >= MAX_VISIBILITY_MS) return { kind: 'never' };
      await sleep(READ_BACK_WAITS_MS[reads - 1] ?? LATE_WAIT_MS);
    }
  } catch (error) {
    noteFailure(error, run);
    return { kind: 'failed', problem: describeError(error, run) };
  }
}

/** Sends requests that the service must refuse, and reads an environment in which nothing has ever been activated. */
async function checkRefusals(run: ConformanceRun): Promise<void> {
  const { target, points, options } = run;
  points.push(await checkRefusedActivation('unknownVersion', target.useUnknownVersion, run));
  const otherVersion = await checkOtherVersion(run);
  if (otherVersion !== null) points.push(otherVersion);
  const missingPrompt: RefusalCheck = { rule: 'unknownPrompt', code: 'service/prompt-not-found' };
  points.push(await checkRefusal(missingPrompt, target.readUnknownPrompt, run));
  const wrongKey: RefusalCheck = { rule: 'wrongKey', code: 'service/not-authorised' };
  points.push(await checkRefusal(wrongKey, target.readWithWrongKey, run));
  points.push(await checkNothingActive(`${DOCTOR_ENVIRONMENT}-${options.runId}`, run));
}

/** A request that the service must refuse, and the problem code that promptsync expects when it does. */
type RefusalCheck = {
  readonly rule: 'unknownVersion' | 'otherVersion' | 'unknownPrompt' | 'wrongKey';
  readonly code: ProblemCode;
};

async function checkRefusal(
  { rule, code }: RefusalCheck,
  send: () => Promise<unknown>,
  run: ConformanceRun,
): Promise<DoctorPoint> {
  const { requirements, words } = run.target;
  const requirement = requirements[rule];
  try {
    await send();
  } catch (error) {
    noteFailure(error, run);
    const problem = describeError(error, run);
    if (problem.code === code) return makeOkPoint(requirement.point, 'refused');
    const isRefused = error instanceof ServiceError && error.effect === 'rejected';
    if (!isRefused && problem.code !== 'service/unexpected-status') return makeProblemPoint(requirement.point, problem);
    const hint = `When this happens, promptsync reports this status instead of the actual problem. Ask the operator of ${words.service} to ${requirement.request}.`;
    return makeWarningPoint(requirement.point, `refused, but with an unexpected error: ${problem.message}`, hint);
  }
  return makeErrorPoint(requirement.point, 'accepted', makeRequirementHint(requirement, words));
}

async function checkOtherVersion(run: ConformanceRun): Promise<DoctorPoint | null> {
  const { target } = run;
  const { activate, findOtherVersionId } = target;
  if (findOtherVersionId === null) return null;
  const id = await readOrNull(findOtherVersionId, run);
  if (id !== null) return checkRefusedActivation('otherVersion', () => activate(id), run);
  const reason = 'the workspace has no other prompt whose newest version is known';
  return makeUncheckedPoint(target.requirements.otherVersion.point, reason);
}

/** Reports an error if the service accepts the request, or if it refuses it but then serves a different version. */
async function checkRefusedActivation(
  rule: 'unknownVersion' | 'otherVersion',
  send: () => Promise<unknown>,
  run: ConformanceRun,
): Promise<DoctorPoint> {
  const { requirements, words } = run.target;
  const before = await readServedId(run);
  const check: RefusalCheck = { rule, code: 'service/version-not-found' };
  const point = await checkRefusal(check, () => trackActivation(send, run), run);
  if (point.level === 'error') return point;
  const after = await readServedId(run);
  if (before === null || after === null) {
    const reason = `promptsync could not read the ${words.environment} before the request or after it`;
    return makeUncheckedPoint(point.name, reason);
  }
  // An earlier activation of this check can become visible late.
  if (before === after || run.versions.some(({ id }) => id === after)) return point;
  const hint = makeRequirementHint(requirements[rule], words);
  return makeErrorPoint(point.name, `refused, but the ${words.environment} changed anyway`, hint);
}

/** Returns an empty id if no version is active. Null if a read fails. */
function readServedId(run: ConformanceRun): Promise<string | null> {
  return readOrNull(async () => (await readOwnEnvironment(run.target))?.id ?? '', run);
}

async function checkNothingActive(environment: string, run: ConformanceRun): Promise<DoctorPoint> {
  const { requirements, words, readActive } = run.target;
  const { service } = words;
  const noun = addArticle(words.environment);
  const { nothingActive } = requirements;
  const { point } = nothingActive;
  try {
    const version = await readActive(environment);
    if (version === null) return makeOkPoint(point, `${service} returns none`);
    const found = `${service} returns version ${version.number} for ${noun} in which nothing was activated`;
    return makeErrorPoint(point, found, makeRequirementHint(nothingActive, words));
  } catch (error) {
    noteFailure(error, run);
    const problem = describeError(error, run);
    if (problem.code !== 'service/prompt-not-found') return makeProblemPoint(point, problem);
    const hint = `promptsync sends one more request for each ${words.environment} in which no version is active. There is no other effect.`;
    return makeWarningPoint(point, `status 404 for the ${words.environment}, although the prompt exists`, hint);
  }
}
