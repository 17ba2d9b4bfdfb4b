import {
  type Content,
  computeContentDigest,
  EMPTY_METADATA_DIGEST,
  holdsContent,
  omitDigests,
} from '../domain/content.ts';
import type { DesiredState } from '../domain/desired-state.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import type { Provider, ProviderRules } from '../domain/provider.ts';
import { contentAtRef, type ContentsAtRefs } from '../domain/plan.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { formatPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/**
 * Returns the observation that promptsync would make if the files of the base commit were in sync. A review without an
 * API key plans against it. Version numbers below 1 stand for numbers that only the service knows.
 */
export function assumeObservation(
  { files, base, contentsAtRefs }: DesiredState,
  { hasFields }: ProviderRules,
): Observation {
  const observed = files.map((file): [string, ObservedPrompt] => {
    const then = base?.files.get(file.id) ?? null;
    const assumed = assumeObserved(file, then, contentsAtRefs.get(file.id) ?? new Map());
    return [file.id, hasFields ? assumed : { ...assumed, fields: null }];
  });
  return { observed: new Map(observed), failed: new Map() };
}

/** The provider of a run that must not contact the service. Each of its calls fails. */
export const UNAVAILABLE_PROVIDER: Provider = {
  observe: () => Promise.reject(makeNotAskedError()),
  makeWriter: () => {
    throw makeNotAskedError();
  },
  list: null,
};

function makeNotAskedError(): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason: 'the service may not be asked' }));
}

/** Returns the observation of one prompt. An environment that the base does not pin counts as empty. */
function assumeObserved(file: PromptFile, then: PromptFile | null, atRefs: ContentsAtRefs): ObservedPrompt {
  const { id, key, name, description = '' } = then ?? file;
  const versions = assumeVersions(file, then, atRefs);
  const active = (then?.pins ?? []).map(({ environment, pin }): [string, KnownVersion | null] => {
    return [environment, versions.get(formatPin(pin)) ?? null];
  });
  const known = [...new Map([...versions.values()].map((version) => [version.id, version])).values()];
  return {
    fields: { id, key, name, description },
    active: new Map(active),
    known: known.toSorted((a, b) => b.number - a.number),
    willKnowContent: (content) => known.some((version) => holdsContent(version, content)),
    lacksLedger: false,
    canFindNumbers: false,
    missingIds: [],
    metadata: 'kept',
    problems: [],
    fingerprint: '',
  };
}

/**
 * Returns the assumed versions by the text of their pin. They include the versions that only the head pins, because
 * nobody can say without the service that those do not exist.
 */
function assumeVersions(
  file: PromptFile,
  then: PromptFile | null,
  atRefs: ContentsAtRefs,
): ReadonlyMap<string, KnownVersion> {
  const written = [...(then?.pins ?? []), ...file.pins].map(({ pin }) => pin);
  const pins: readonly Pin[] = [{ kind: 'latest' }, ...written];
  return new Map(
    pins.flatMap((pin, index): [string, KnownVersion][] => {
      const named = pin.kind === 'git' ? contentAtRef(atRefs, pin.ref) : 'unread';
      const content = pin.kind === 'latest' ? (then?.content ?? 'unread') : named;
      return content === null ? [] : [[formatPin(pin), assumeVersion(pin, content, -index)]];
    }),
  );
}

function assumeVersion(pin: Pin, content: Content | 'unread', number: number): KnownVersion {
  const held = content === 'unread' ? null : content;
  const digest = held?.digest ?? computeContentDigest(`promptsync: the text of ${formatPin(pin)}`);
  const id = held !== null && pin.kind === 'latest' ? 'base' : formatPin(pin);
  const named = pin.kind === 'number' ? { id: `v${pin.number}`, number: pin.number } : { id, number };
  return {
    ...(pin.kind === 'version' ? { id: pin.id, number } : named),
    digest,
    metadataDigest: held?.metadataDigest ?? EMPTY_METADATA_DIGEST,
    isManaged: true,
    staysKnown: true,
    source: { digest },
    content: held && { ...omitDigests(held), metadata: held.metadata ?? {} },
  };
}
