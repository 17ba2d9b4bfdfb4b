import { VERSION_RECORD_KEY } from '../../src/domain/content.ts';
import { omitKey } from '../../src/domain/json.ts';
import { makeProblem } from '../../src/problem.ts';
import type { NewServiceVersion, PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { parseVersionRecord, type VersionRecord } from '../../src/providers/four-call/version-record.ts';

/** A version as it was sent, with its version record separated from its other metadata. */
export type CreatedVersion = NewServiceVersion['content'] &
  Omit<NewServiceVersion, 'content'> & { readonly stamp: VersionRecord };

/** Hooks around each call. They get the line of the call and its index from 0. If a hook throws, the call throws. */
export type Hooks = {
  readonly before?: (line: string, index: number) => void | Promise<void>;
  /** Runs after the call has had its effect. */
  readonly after?: (line: string, index: number) => void | Promise<void>;
};

/** A service that records each call as a line, such as `set p1 staging ver_1`. */
export type RecordedService = PromptService & {
  readonly lines: readonly string[];
  readonly created: readonly CreatedVersion[];
  /** Returns the highest number of concurrent calls so far. */
  readonly mostInFlight: () => number;
};

export function recordCalls(service: PromptService, { before, after }: Hooks = {}): RecordedService {
  const lines: string[] = [];
  const created: CreatedVersion[] = [];
  let inFlight = 0;
  let most = 0;
  const record = async <Answer>(line: string, call: () => Promise<Answer>): Promise<Answer> => {
    const index = lines.push(line) - 1;
    most = Math.max(most, ++inFlight);
    try {
      await before?.(line, index);
      const answer = await call();
      await after?.(line, index);
      return answer;
    } finally {
      inFlight -= 1;
    }
  };
  return {
    lines,
    created,
    mostInFlight: () => most,
    readPrompt: (promptId, environment) =>
      record(['read', promptId, environment].filter((word) => word !== undefined).join(' '), () =>
        service.readPrompt(promptId, environment),
      ),
    createVersion: (promptId, version) => {
      created.push(splitVersionRecord(version));
      return record(`create ${promptId} ${JSON.stringify(version.content.text)}`, () =>
        service.createVersion(promptId, version),
      );
    },
    updatePrompt: (promptId, fields) =>
      record(`update ${promptId} ${JSON.stringify(fields)}`, () => service.updatePrompt(promptId, fields)),
    setActive: (promptId, environment, versionId) =>
      record(`set ${promptId} ${environment} ${versionId}`, () => service.setActive(promptId, environment, versionId)),
  };
}

export function splitVersionRecord({ content, ...version }: NewServiceVersion): CreatedVersion {
  const stamp = parseVersionRecord(content.metadata);
  if (stamp === null) throw new TypeError('a version was made without a stamp');
  return { ...version, ...content, metadata: omitKey(content.metadata, VERSION_RECORD_KEY), stamp };
}

/** Wraps a service so that it starts no call once the signal is aborted, like the real client. */
export function rejectWhenStopped(service: PromptService, stop: AbortSignal): PromptService {
  const unlessStopped = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    stop.aborted ? Promise.reject(new ServiceError(makeProblem('apply/interrupted'), 'not-sent')) : call();
  return {
    readPrompt: (...sent) => unlessStopped(() => service.readPrompt(...sent)),
    createVersion: (...sent) => unlessStopped(() => service.createVersion(...sent)),
    updatePrompt: (...sent) => unlessStopped(() => service.updatePrompt(...sent)),
    setActive: (...sent) => unlessStopped(() => service.setActive(...sent)),
  };
}
