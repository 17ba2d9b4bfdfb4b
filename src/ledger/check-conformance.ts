import { type ConformanceRequest, DOCTOR_ENVIRONMENT } from '../domain/conformance.ts';
import { type DoctorPoint, makeOkPoint } from '../domain/doctor-point.ts';
import type { ProviderOpening } from '../providers/descriptor.ts';
import { checkConformance } from '../service/check-conformance.ts';
import { connectPromptService } from '../service/client.ts';
import type { ConformanceTarget, CreatedSample, SampleVersion } from '../service/conformance-target.ts';
import type { PromptService, ServiceVersion } from '../service/prompt-service.ts';
import { FOUR_CALL_REQUIREMENTS } from './requirements.ts';

/**
 * Checks whether a four-call service follows the rules that promptsync depends on. Creates versions of the throwaway
 * prompt. Before it writes anything, throws a `ServiceError` if it cannot read that prompt.
 */
export async function checkFourCallService(
  { connection, secretKey }: ProviderOpening,
  { promptId, otherPromptId, runId }: ConformanceRequest,
): Promise<readonly DoctorPoint[]> {
  const service = connectPromptService({ ...connection, apiKey: secretKey });
  const stranger = connectPromptService({ ...connection, apiKey: `promptsync-doctor-${runId}` });
  const id = promptId ?? '';
  try {
    await service.readPrompt(id);
    const target = makeFourCallTarget(service, id, { otherPromptId, runId }, () => stranger.readPrompt(id));
    return await checkConformance(target, { now: connection.now, sleep: connection.sleep, runId });
  } finally {
    await Promise.all([service.close(), stranger.close()]);
  }
}

function makeFourCallTarget(
  service: PromptService,
  promptId: string,
  { otherPromptId, runId }: Omit<ConformanceRequest, 'promptId'>,
  readWithWrongKey: ConformanceTarget['readWithWrongKey'],
): ConformanceTarget {
  const unknownName = `promptsync-doctor-${runId}`;
  const activate = (versionId: string) => service.setActive(promptId, DOCTOR_ENVIRONMENT, versionId);
  return {
    requirements: FOUR_CALL_REQUIREMENTS,
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
    findOtherVersionId: async () =>
      otherPromptId === null ? null : (await service.readPrompt(otherPromptId)).latestVersionId,
    cleanUp: async (versions) => makeOkPoint('left behind', describeRemains(versions, promptId)),
  };
}

function toSampleVersion({ id, number, content: { text, metadata } }: ServiceVersion): SampleVersion {
  return { id, number, text, metadata };
}

function describeRemains(versions: readonly CreatedSample[], promptId: string): string {
  if (versions.length === 0) return 'nothing';
  const names = versions.map(({ id, number }) => {
    if (id === null) return 'perhaps one whose response was lost';
    return number === null ? `perhaps ${id}` : `v${number} (${id})`;
  });
  return `in the prompt "${promptId}": the environment "${DOCTOR_ENVIRONMENT}", and the versions ${names.join(', ')}`;
}
