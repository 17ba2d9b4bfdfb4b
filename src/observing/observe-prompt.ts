import { findContent, knownVersions } from '../domain/known-versions.ts';
import { versionsRead, type Observed, type ObserveRequest } from '../domain/observed.ts';
import { isDoubtful } from '../domain/ownership.ts';
import { ServiceError, type PromptService, type RemotePrompt } from '../domain/prompt-service.ts';
import type { Version } from '../domain/version.ts';

type Reading = { readonly environment: string; readonly answer: RemotePrompt | ServiceError };

/**
 * Reads one prompt in every requested environment, and in the tracking environment where what was read does not tell
 * enough. Throws a `ServiceError` when the prompt cannot be read.
 */
export async function observePrompt(
  service: PromptService,
  request: ObserveRequest,
  trackingEnvironment: string,
): Promise<Observed> {
  const { promptId, environments } = request;
  const first = environments.length > 0 ? environments : [trackingEnvironment];
  const observed = await readEnvironments(service, promptId, first);
  if (first.includes(trackingEnvironment) || tellsEnough(request, observed)) return observed;
  const tracked = await read(service, promptId, trackingEnvironment);
  if (isFailure(tracked.answer)) throw tracked.answer;
  return { ...observed, active: new Map([...observed.active, activeOf(tracked)]) };
}

/** The tracking environment's ledger is the fullest; it is read when something is not found or not clear without it. */
function tellsEnough({ followsLatest, contents, numbers }: ObserveRequest, observed: Observed): boolean {
  if (!followsLatest || versionsRead(observed).some(isDoubtful)) return false;
  const known = knownVersions(observed);
  return (
    contents.every((content) => findContent(known, content) !== undefined) &&
    numbers.every((number) => known.some((version) => version.number === number))
  );
}

async function readEnvironments(
  service: PromptService,
  promptId: string,
  environments: readonly string[],
): Promise<Observed> {
  const readings = await Promise.all(environments.map((environment) => read(service, promptId, environment)));
  const found = readings.flatMap(({ answer }) => (answer instanceof ServiceError ? [] : [answer])).at(-1);
  const failure = readings.map(({ answer }) => answer).find(isFailure);
  if (failure !== undefined) throw failure;
  const prompt = found ?? (await service.readPrompt(promptId));
  const { activeVersion: _, ...fields } = prompt;
  return { prompt: fields, active: new Map(readings.map(activeOf)), looked: [], missing: [] };
}

async function read(service: PromptService, promptId: string, environment: string): Promise<Reading> {
  try {
    return { environment, answer: await service.readPrompt(promptId, environment) };
  } catch (error) {
    if (error instanceof ServiceError) return { environment, answer: error };
    throw error;
  }
}

/** A 404 may mean that the environment has no active version: then the prompt is found without one. */
function isFailure(answer: RemotePrompt | ServiceError): answer is ServiceError {
  return answer instanceof ServiceError && answer.problem.code !== 'service/prompt-not-found';
}

function activeOf({ environment, answer }: Reading): [string, Version | null] {
  return [environment, answer instanceof ServiceError ? null : answer.activeVersion];
}
