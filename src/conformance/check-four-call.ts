import { type ConformanceRequest, DOCTOR_ENVIRONMENT, REMAINS_POINT } from './requirements.ts';
import { type DoctorPoint, makeOkPoint } from '../domain/doctor-point.ts';
import type { ProviderOpening } from '../providers/provider-descriptor.ts';
import { checkConformance } from './check-conformance.ts';
import { connectPromptService } from '../providers/four-call/client.ts';
import type { CheckRemains, ConformanceTarget, SampleVersion } from './conformance-target.ts';
import type { PromptService, ServiceVersion } from '../providers/four-call/prompt-service.ts';
import { ServiceError } from '../http/service-error.ts';
import { shortenText } from '../text.ts';
import { DEFAULT_WORDS } from '../service-words.ts';
import { FOUR_CALL_REQUIREMENTS } from './four-call-requirements.ts';

/** If it cannot read the throwaway prompt, writes nothing and throws a `ServiceError`. */
export async function checkFourCallService(
  { connection, secretKey }: ProviderOpening,
  { promptId, otherPromptIds, runId }: ConformanceRequest,
): Promise<readonly DoctorPoint[]> {
  const service = connectPromptService({ ...connection, apiKey: secretKey });
  const stranger = connectPromptService({ ...connection, apiKey: `promptsync-doctor-${runId}` });
  const id = promptId ?? '';
  try {
    await service.readPrompt(id);
    const target = makeFourCallTarget(service, id, { otherPromptIds, runId }, () => stranger.readPrompt(id));
    return await checkConformance(target, { now: connection.now, sleep: connection.sleep, runId });
  } finally {
    await Promise.all([service.close(), stranger.close()]);
  }
}

function makeFourCallTarget(
  service: PromptService,
  promptId: string,
  { otherPromptIds, runId }: Omit<ConformanceRequest, 'promptId'>,
  readWithWrongKey: ConformanceTarget['readWithWrongKey'],
): ConformanceTarget {
  const unknownName = `promptsync-doctor-${runId}`;
  const activate = (versionId: string) => service.setActive(promptId, DOCTOR_ENVIRONMENT, versionId);
  return {
    requirements: FOUR_CALL_REQUIREMENTS,
    words: DEFAULT_WORDS,
    createVersion: async (text, metadata) => {
      const content = { type: 'text', text, metadata } as const;
      const version = await service.createVersion(promptId, { content, changeSummary: 'promptsync doctor' });
      return { id: version.id, number: version.number, content: toSampleVersion(version) };
    },
    readVersion: null,
    activate,
    readActive: async (environment) => {
      const { activeVersion } = await service.readPrompt(promptId, environment);
      return activeVersion === null ? null : toSampleVersion(activeVersion);
    },
    readNewestId: async () => (await service.readPrompt(promptId)).latestVersionId,
    useUnknownVersion: () => activate(unknownName),
    readUnknownPrompt: () => service.readPrompt(unknownName),
    readWithWrongKey,
    findOtherVersionId: () => findNewestVersionId(service, otherPromptIds.slice(0, MAX_OTHER_PROMPTS)),
    cleanUp: async (remains) => makeOkPoint(REMAINS_POINT, describeRemains(remains, promptId)),
  };
}

/** How many other prompts to try when the check looks for a version that belongs to another prompt. */
const MAX_OTHER_PROMPTS = 10;

/** Returns the newest version of the first prompt that can be read and has one. */
async function findNewestVersionId(service: PromptService, promptIds: readonly string[]): Promise<string | null> {
  for (const id of promptIds) {
    const prompt = await service.readPrompt(id).catch(returnNullIfRejected);
    if (prompt?.latestVersionId) return prompt.latestVersionId;
  }
  return null;
}

/** Returns null if the service refused a request, for example because the prompt does not exist. */
function returnNullIfRejected(error: unknown): null {
  if (error instanceof ServiceError && error.effect === 'rejected') return null;
  throw error;
}

function toSampleVersion({ id, number, content: { text, metadata } }: ServiceVersion): SampleVersion {
  return { id, number, text, metadata };
}

/** Separately lists what the check may have changed, because a response was lost. */
function describeRemains({ versions, environment }: CheckRemains, promptId: string): string {
  const known = versions.flatMap(({ id, number }) =>
    id === null || number === null ? [] : [`v${number} (${shortenId(id)})`],
  );
  const possible = versions.flatMap(({ id, number }) => (number === null ? [describePossibleVersion(id)] : []));
  const environments = {
    unchanged: [],
    uncertain: [`perhaps the environment "${DOCTOR_ENVIRONMENT}"`],
    changed: [`the environment "${DOCTOR_ENVIRONMENT}"`],
  } as const satisfies Record<CheckRemains['environment'], readonly string[]>;
  const list = known.length === 0 ? [] : [`the ${known.length === 1 ? 'version' : 'versions'} ${known.join(', ')}`];
  const parts = [...environments[environment], ...list, ...possible];
  return parts.length === 0 ? 'nothing' : `in the prompt "${promptId}": ${parts.join(', and ')}`;
}

function describePossibleVersion(id: string | null): string {
  return `perhaps ${id === null ? 'a version' : `the version ${shortenId(id)}`}, because a response was lost`;
}

/** A faulty service can return an id of any length. */
function shortenId(id: string): string {
  return shortenText(id, 100);
}
