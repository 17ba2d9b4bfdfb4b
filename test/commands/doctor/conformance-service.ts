import { checkConformance } from '../../../src/conformance/check-conformance.ts';
import type { ConformanceTarget, SampleContent, SampleVersion } from '../../../src/conformance/conformance-target.ts';
import { FOUR_CALL_REQUIREMENTS } from '../../../src/conformance/four-call-requirements.ts';
import { makeOkPoint } from '../../../src/domain/doctor-point.ts';
import { ServiceError } from '../../../src/http/service-error.ts';
import { makeProblem } from '../../../src/problem.ts';
import { DEFAULT_WORDS } from '../../../src/service-words.ts';
import { readPoints, type Points } from './doctoring.ts';

/** A service in memory. Its parts can be replaced to make it deviate from the rules. */
export type MemoryService = {
  readonly versions: SampleVersion[];
  /** The id of the version that the environment of doctor serves. */
  activeId: string | null;
  readonly now: () => number;
  readonly pass: (milliseconds: number) => void;
};

/** Returns the parts of a faulty target. Receives the correct target. */
export type Deviation = (service: MemoryService, correct: ConformanceTarget) => Partial<ConformanceTarget>;

type RefusalCode = `service/${'prompt-not-found' | 'version-not-found' | 'not-authorised' | 'unexpected-status'}`;

/** Makes a request that a service refuses with a status. */
export function refuse(status: number, code: RefusalCode = 'service/unexpected-status'): () => Promise<never> {
  const evidence = { promptId: 'p', versionId: 'v', status, said: '', keySources: ['the key'] };
  return async () => {
    throw new ServiceError(makeProblem(code, evidence), 'rejected', { status });
  };
}

/** Answers that the key may not do this. */
export const answerNotAllowed = refuse(403, 'service/not-authorised');

/** Answers that there is no such prompt. */
export const answerNoPrompt = refuse(404, 'service/prompt-not-found');

/** Answers that there is no such version. */
export const answerNoVersion = refuse(404, 'service/version-not-found');

/** Stores changed contents. */
export function store(change: (content: SampleContent) => Partial<SampleContent>): Deviation {
  return (_, { createVersion }) => ({
    createVersion: async (text, metadata) => {
      const changed = change({ text, metadata });
      return createVersion(changed.text ?? text, (changed.metadata ?? metadata) as typeof metadata);
    },
  });
}

/** Runs the check against a service with a deviation. A clock that only waiting advances measures the time. */
export async function checkMemoryService(deviate: Deviation = () => ({})): Promise<Points & { readonly time: number }> {
  let time = 0;
  const service: MemoryService = {
    versions: [],
    activeId: null,
    now: () => time,
    pass: (milliseconds) => void (time += milliseconds),
  };
  const correct: ConformanceTarget = {
    words: DEFAULT_WORDS,
    requirements: FOUR_CALL_REQUIREMENTS,
    createVersion: async (text, metadata) => {
      const number = service.versions.length + 2;
      const version = { id: `v${number}`, number, text, metadata };
      service.versions.push(version);
      return { id: version.id, number, content: version };
    },
    readVersion: null,
    activate: async (versionId) => {
      if (!service.versions.some(({ id }) => id === versionId)) await answerNoVersion();
      service.activeId = versionId;
    },
    readActive: async (environment) => {
      if (environment !== 'promptsync-doctor') return null;
      return service.versions.find(({ id }) => id === service.activeId) ?? null;
    },
    readNewestId: async () => service.versions.at(-1)?.id ?? null,
    useUnknownVersion: () => correct.activate('unknown'),
    readUnknownPrompt: answerNoPrompt,
    readWithWrongKey: answerNotAllowed,
    findOtherVersionId: async () => 'other',
    cleanUp: async () => makeOkPoint('left behind', 'nothing'),
  };
  const sleep = async (milliseconds: number): Promise<void> => service.pass(milliseconds);
  const target = { ...correct, ...deviate(service, correct) };
  const points = await checkConformance(target, { now: service.now, sleep, runId: 'abc' });
  return { ...readPoints(points), time };
}
