import {
  type ConformanceRequest,
  DOCTOR_ENVIRONMENT,
  makeSharedRequirements,
  REMAINS_POINT,
  type ServiceRequirements,
} from './requirements.ts';
import { type DoctorPoint, makeErrorPoint, makeOkPoint } from '../domain/doctor-point.ts';
import { makeProblem, toProblem, wordProblem } from '../problem.ts';
import type { ProviderOpening } from '../providers/provider-descriptor.ts';
import { checkConformance } from './check-conformance.ts';
import type { ConnectionOptions } from '../http/connection.ts';
import type { ConformanceTarget, SampleVersion } from './conformance-target.ts';
import { ServiceError } from '../http/service-error.ts';
import { readUntil, type RetryPolicy } from '../http/retry.ts';
import { makeUnexpectedError } from '../providers/write-outcome.ts';
import { connectLangfuse, type LangfuseService, type VersionSelector } from '../providers/langfuse/client.ts';
import { LANGFUSE_WORDS } from '../providers/langfuse/file-rules.ts';

/** Checks Langfuse, or a gateway in front of it. Creates its own prompt, and deletes it even after an interruption. */
export async function checkLangfuse(
  { connection, secretKey, publicKey }: ProviderOpening,
  { runId }: ConformanceRequest,
): Promise<readonly DoctorPoint[]> {
  const keys = { publicKey: publicKey ?? '', secretKey };
  const name = `promptsync-doctor-${runId}`;
  const service = connectLangfuse(connection, keys);
  const stranger = connectLangfuse(connection, { ...keys, secretKey: name });
  const unstoppable = makeUnstoppable(connection);
  const cleaner = connectLangfuse(unstoppable, keys);
  try {
    // The check deletes the prompt at the end, so it must not exist yet.
    if ((await service.find(name)) !== null) throw makeUnexpectedError(`the prompt "${name}" already exists`);
    const { now, sleep } = connection;
    const target = makeLangfuseTarget(service, {
      name,
      readWithWrongKey: () => stranger.find(name),
      deletePrompt: () => deleteOwnPrompt(cleaner, name, unstoppable.sleep),
    });
    return await checkConformance(target, { now, sleep, runId });
  } finally {
    await Promise.all([service.close(), stranger.close(), cleaner.close()]);
  }
}

/**
 * The connection stays open after an interruption, but without pauses, so that the check can delete its prompt. A
 * second signal ends promptsync at once.
 */
function makeUnstoppable({ stop: _, ...connection }: ConnectionOptions): ConnectionOptions {
  return { ...connection, sleep: (milliseconds) => connection.sleep(milliseconds).catch(() => {}) };
}

/** A version number that no version ever has. It still fits into Langfuse's database column. */
const UNKNOWN_NUMBER = 1_000_000;

/** The name of the prompt that the check creates, and what else the target needs. */
type OwnPrompt = Pick<ConformanceTarget, 'readWithWrongKey'> & {
  readonly name: string;
  /** Works even after an interruption. Returns the point about what the check left behind. */
  readonly deletePrompt: () => Promise<DoctorPoint>;
};

function makeLangfuseTarget(
  service: LangfuseService,
  { name, readWithWrongKey, deletePrompt }: OwnPrompt,
): ConformanceTarget {
  return {
    requirements: LANGFUSE_REQUIREMENTS,
    words: LANGFUSE_WORDS,
    createVersion: async (text, metadata) => {
      const content = { type: 'text', text, metadata } as const;
      const { number } = await service.create(name, { content, labels: [], message: 'promptsync doctor' });
      // The client normalizes the text in this response, so only a later read shows what Langfuse has stored.
      return { id: `${number}`, number, content: null };
    },
    readVersion: (versionId) => readSample(service, name, { kind: 'version', version: Number(versionId) }),
    activate: (versionId) => service.addLabels(name, Number(versionId), [DOCTOR_ENVIRONMENT]),
    readActive: (label) => readSample(service, name, { kind: 'label', label }),
    readNewestId: async () => {
      const prompt = await service.find(name);
      return prompt === null || prompt.versions.length === 0 ? null : `${Math.max(...prompt.versions)}`;
    },
    // A sync always reads a version before it moves a label to it, so only the response to this read matters.
    useUnknownVersion: async () => {
      const found = await service.read(name, { kind: 'version', version: UNKNOWN_NUMBER });
      const evidence = { promptId: name, versionId: `${UNKNOWN_NUMBER}` };
      if (found === null) throw new ServiceError(makeProblem('service/version-not-found', evidence), 'rejected');
    },
    readUnknownPrompt: async () => {
      const promptId = `${name}-unknown`;
      const found = await service.readServed(promptId, { kind: 'label', label: DOCTOR_ENVIRONMENT });
      if (found === null) throw new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
    },
    readWithWrongKey,
    findOtherVersionId: null,
    // If the check created no version, Langfuse has no prompt to delete.
    cleanUp: async ({ versions }) => (versions.length === 0 ? makeOkPoint(REMAINS_POINT, 'nothing') : deletePrompt()),
  };
}

async function readSample(
  service: LangfuseService,
  name: string,
  selector: VersionSelector,
): Promise<SampleVersion | null> {
  const served = await service.readServed(name, selector);
  if (served === null) return null;
  const text = served.type === 'text' ? served.prompt : '';
  return { id: `${served.number}`, number: served.number, text, metadata: served.config };
}

/**
 * The prompt counts as deleted only if Langfuse no longer lists it, because a gateway can also answer 404, or answer
 * without forwarding the request.
 */
async function deleteOwnPrompt(
  service: LangfuseService,
  name: string,
  sleep: RetryPolicy['sleep'],
): Promise<DoctorPoint> {
  const hint = `Delete the prompt "${name}" in Langfuse.`;
  try {
    await service.deletePrompt(name);
    const remaining = await readUntil(
      () => service.find(name),
      (prompt) => prompt === null,
      sleep,
    );
    if (remaining === null) return makeOkPoint(REMAINS_POINT, 'nothing');
    return makeErrorPoint(
      REMAINS_POINT,
      `the prompt "${name}", which Langfuse still lists after the request to delete it`,
      hint,
    );
  } catch (error) {
    const { message } = wordProblem(toProblem(error), LANGFUSE_WORDS);
    const found = `perhaps the prompt "${name}", because promptsync could not verify that it was deleted: ${message}`;
    return makeErrorPoint(REMAINS_POINT, found, hint);
  }
}

/** What promptsync needs from Langfuse. A gateway in front of Langfuse can break these rules. */
const LANGFUSE_REQUIREMENTS: ServiceRequirements = {
  ...makeSharedRequirements(LANGFUSE_WORDS),
  metadata: {
    point: 'config',
    request: 'store and return `config` unchanged',
    loss: 'promptsync cannot guarantee that applications receive the metadata in a prompt file.',
  },
  newest: {
    point: 'newest version',
    request: 'list a new version right after its creation',
    loss: 'promptsync cannot recover from a lost response, because it cannot tell whether Langfuse created a version.',
  },
};
