import { RESERVED_KEY } from '../../src/domain/digest.ts';
import { withoutKey } from '../../src/domain/json.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError, type NewVersion, type PromptService } from '../../src/service/prompt-service.ts';
import { parseStamp, type Stamp } from '../../src/ledger/stamp.ts';

/** What was sent, with its stamp apart from its own metadata. */
export type CreatedVersion = NewVersion & { readonly stamp: Stamp };

/** What happens around a call, which is given as its line and its number from 0; whatever it throws the call throws. */
export type Hooks = {
  readonly before?: (line: string, index: number) => void | Promise<void>;
  /** The call has had its effect. */
  readonly after?: (line: string, index: number) => void | Promise<void>;
};

/** A service that notes each call as a line, such as `set p1 staging ver_1`. */
export type RecordedService = PromptService & {
  readonly lines: readonly string[];
  readonly created: readonly CreatedVersion[];
  /** The most calls that were in flight at one time. */
  readonly mostInFlight: () => number;
};

export function recorded(service: PromptService, { before, after }: Hooks = {}): RecordedService {
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
      created.push(apart(version));
      return record(`create ${promptId} ${JSON.stringify(version.text)}`, () =>
        service.createVersion(promptId, version),
      );
    },
    updatePrompt: (promptId, fields) =>
      record(`update ${promptId} ${JSON.stringify(fields)}`, () => service.updatePrompt(promptId, fields)),
    setActive: (promptId, environment, versionId) =>
      record(`set ${promptId} ${environment} ${versionId}`, () => service.setActive(promptId, environment, versionId)),
  };
}

export function apart(version: NewVersion): CreatedVersion {
  const stamp = parseStamp(version.metadata);
  if (stamp === null) throw new TypeError('a version was made without a stamp');
  return { ...version, metadata: withoutKey(version.metadata, RESERVED_KEY), stamp };
}

/** The same service, of which no call is begun once the signal is aborted: as the client does it. */
export function untilStopped(service: PromptService, stop: AbortSignal): PromptService {
  const unlessStopped = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    stop.aborted ? Promise.reject(new ServiceError(makeProblem('apply/interrupted'), 'not-sent')) : call();
  return {
    readPrompt: (...sent) => unlessStopped(() => service.readPrompt(...sent)),
    createVersion: (...sent) => unlessStopped(() => service.createVersion(...sent)),
    updatePrompt: (...sent) => unlessStopped(() => service.updatePrompt(...sent)),
    setActive: (...sent) => unlessStopped(() => service.setActive(...sent)),
  };
}
