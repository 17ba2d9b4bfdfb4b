import { canReuseVersion } from '../domain/compare-content.ts';
import { type Content, computeContentDigest, EMPTY_METADATA_DIGEST, omitDigests } from '../domain/content.ts';
import { type DesiredState, getContentsAtRefs } from '../domain/desired-state.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import type { Provider, FileRules } from '../providers/provider-interface.ts';
import { findContentAtRef, type ContentsAtRefs } from '../domain/plan.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { formatPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/**
 * Returns what promptsync would observe if the service were in sync with the base commit. A review without an API key
 * plans against this. Version numbers below 1 are placeholders for numbers that only the service knows.
 */
export function assumeObservation(desired: DesiredState, { hasFields, placeholderId }: FileRules): Observation {
  const { files, base } = desired;
  const isRefused = ({ id }: PromptFile): boolean => id === placeholderId;
  const refusals = files.filter(isRefused).map(({ id }) => [id, makeProblem('guard/placeholder-id')] as const);
  const observed = files
    .filter((file) => !isRefused(file))
    .map((file): [string, ObservedPrompt] => {
      const baseFile = base?.files.get(file.id) ?? null;
      const prompt = assumeObservedPrompt(file, baseFile, getContentsAtRefs(desired, file.id));
      return [file.id, hasFields ? prompt : { ...prompt, fields: null }];
    });
  return { observed: new Map(observed), failed: new Map(refusals) };
}

/** The provider for commands that must not contact the service. All of its calls fail. */
export const UNAVAILABLE_PROVIDER: Provider = {
  observe: () => Promise.reject(makeContactError()),
  makeWriter: () => {
    throw makeContactError();
  },
  readServed: () => Promise.reject(makeContactError()),
  list: null,
};

function makeContactError(): ProblemError {
  const reason = 'it tried to contact the service, which this command must not do';
  return new ProblemError(makeProblem('internal/unexpected', { reason }));
}

/** Returns the assumed observation of one prompt. An environment that the base does not pin has no active version. */
function assumeObservedPrompt(file: PromptFile, baseFile: PromptFile | null, atRefs: ContentsAtRefs): ObservedPrompt {
  const { id, key, name, description = '' } = baseFile ?? file;
  const versions = assumeVersions(file, baseFile, atRefs);
  const active = (baseFile?.pins ?? []).map(({ environment, pin }): [string, KnownVersion | null] => {
    return [environment, versions.get(formatPin(pin)) ?? null];
  });
  const known = [...new Map([...versions.values()].map((version) => [version.id, version])).values()];
  return {
    fields: { id, key, name, description },
    type: baseFile?.type ?? null,
    active: new Map(active),
    known: known.toSorted((a, b) => b.number - a.number),
    willKnowContent: (content) => known.some((version) => canReuseVersion(version, content)),
    lacksLedger: false,
    canFindNumbers: false,
    missingIds: [],
    metadata: 'kept',
    problems: [],
    fingerprint: '',
  };
}

/**
 * Returns the assumed versions. Each key is the pin that refers to the version, as written in the file (such as `7` or
 * `git:v1.0`). Includes versions that only the head pins, because they may exist in the service.
 */
function assumeVersions(
  file: PromptFile,
  baseFile: PromptFile | null,
  atRefs: ContentsAtRefs,
): ReadonlyMap<string, KnownVersion> {
  const filePins = [...(baseFile?.pins ?? []), ...file.pins].map(({ pin }) => pin);
  const pins: readonly Pin[] = [{ kind: 'latest' }, ...filePins];
  return new Map(
    pins.flatMap((pin, index): [string, KnownVersion][] => {
      const content = assumeContent(pin, baseFile, atRefs);
      return content === 'missing' ? [] : [[formatPin(pin), assumeVersion(pin, content, -index)]];
    }),
  );
}

/** Returns null if only the service has the content, and `missing` if git has none at the pinned ref. */
function assumeContent(pin: Pin, baseFile: PromptFile | null, atRefs: ContentsAtRefs): Content | null | 'missing' {
  if (pin.kind === 'latest') return baseFile?.content ?? null;
  if (pin.kind === 'git') return findContentAtRef(atRefs, pin.ref) ?? 'missing';
  return null;
}

function assumeVersion(pin: Pin, content: Content | null, placeholderNumber: number): KnownVersion {
  const digest = content?.digest ?? computeContentDigest(`promptsync: the text of ${formatPin(pin)}`);
  return {
    id: assumeVersionId(pin, content),
    number: pin.kind === 'number' ? pin.number : placeholderNumber,
    digest,
    metadataDigest: content?.metadataDigest ?? EMPTY_METADATA_DIGEST,
    isManaged: true,
    staysKnown: true,
    source: { digest },
    content: content && { ...omitDigests(content), metadata: content.metadata ?? {} },
  };
}

function assumeVersionId(pin: Pin, content: Content | null): string {
  if (pin.kind === 'version') return pin.id;
  if (pin.kind === 'number') return `v${pin.number}`;
  return pin.kind === 'latest' && content !== null ? 'base' : formatPin(pin);
}
