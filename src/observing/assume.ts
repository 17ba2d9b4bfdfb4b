import { contentDigest, EMPTY_METADATA_DIGEST } from '../domain/digest.ts';
import type { Desired } from '../domain/desired.ts';
import type { Observation, Observed } from '../domain/observed.ts';
import type { Provider, ProviderRules } from '../domain/provider.ts';
import { contentAtRef, type ContentsAtRefs } from '../domain/plan.ts';
import { holds, type KnownVersion } from '../domain/versions.ts';
import { pinText, type Content, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/**
 * What would be observed were the base commit's files all in sync: a review that may not ask the service compares with
 * it. Numbers below 1 stand for those that only the service knows.
 */
export function assumeObservation({ files, base, contentsAtRefs }: Desired, { hasFields }: ProviderRules): Observation {
  const observed = files.map((file): [string, Observed] => {
    const then = base?.files.get(file.id) ?? null;
    const assumed = assumeObserved(file, then, contentsAtRefs.get(file.id) ?? new Map());
    return [file.id, hasFields ? assumed : { ...assumed, fields: null }];
  });
  return { observed: new Map(observed), failed: new Map() };
}

/** What may be written where the service may not be asked: nothing. */
export const NO_PROVIDER: Provider = {
  observe: () => Promise.reject(notAsked()),
  begin: () => {
    throw notAsked();
  },
  list: null,
};

function notAsked(): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason: 'the service may not be asked' }));
}

/** What the base does not pin is taken for empty. */
function assumeObserved(file: PromptFile, then: PromptFile | null, atRefs: ContentsAtRefs): Observed {
  const { id, key, name, description = '' } = then ?? file;
  const versions = versionsOf(file, then, atRefs);
  const active = (then?.pins ?? []).map(({ environment, pin }): [string, KnownVersion | null] => {
    return [environment, versions.get(pinText(pin)) ?? null];
  });
  const known = [...new Map([...versions.values()].map((version) => [version.id, version])).values()];
  return {
    fields: { id, key, name, description },
    active: new Map(active),
    known: known.toSorted((a, b) => b.number - a.number),
    remembers: (content) => known.some((version) => holds(version, content)),
    ...{ recordDue: false, findable: false, missing: [], metadata: 'kept', problems: [], state: '' },
  };
}

/** By the pin that means it, with those that the files of now pin: nobody can say that such numbers are not there. */
function versionsOf(file: PromptFile, then: PromptFile | null, atRefs: ContentsAtRefs) {
  const pins: readonly Pin[] = [{ kind: 'latest' }, ...[...(then?.pins ?? []), ...file.pins].map(({ pin }) => pin)];
  return new Map(
    pins.flatMap((pin, index): [string, KnownVersion][] => {
      const named = pin.kind === 'git' ? contentAtRef(atRefs, pin.ref) : 'unread';
      const content = pin.kind === 'latest' ? (then?.content ?? 'unread') : named;
      return content === null ? [] : [[pinText(pin), versionOf(pin, content, -index)]];
    }),
  );
}

function versionOf(pin: Pin, content: Content | 'unread', number: number): KnownVersion {
  const held = content === 'unread' ? null : content;
  const digest = held?.digest ?? contentDigest(`promptsync: the text of ${pinText(pin)}`);
  const id = held !== null && pin.kind === 'latest' ? 'base' : pinText(pin);
  const named = pin.kind === 'number' ? { id: `v${pin.number}`, number: pin.number } : { id, number };
  return {
    ...(pin.kind === 'version' ? { id: pin.id, number } : named),
    ...{ digest, metadataDigest: held?.metadataDigest ?? EMPTY_METADATA_DIGEST, ours: true, lasting: true },
    source: { digest },
    content: held && { text: held.text, metadata: held.metadata ?? {} },
  };
}
