import { contentDigest, EMPTY_METADATA_DIGEST } from '../domain/digest.ts';
import { entryOf } from '../domain/known-versions.ts';
import { isNew, type Change, type ContentAtRef, type Plan } from '../domain/plan.ts';
import { pinText, type Content, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import { ServiceError, type PromptService } from '../domain/prompt-service.ts';
import type { LedgerEntry, Version, VersionRef } from '../domain/version.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** What is known without the service: the files of now and of the base, and the contents that their `git:` pins mean. */
export type Assumed = {
  readonly files: readonly PromptFile[];
  /** By prompt id. */
  readonly base: ReadonlyMap<string, PromptFile>;
  readonly contentsAtRefs: ReadonlyMap<string, ReadonlyMap<string, ContentAtRef | Problem>>;
  readonly trackingEnvironment: string;
};

/**
 * The service as it would stand were the base commit's files all in sync: a review that may not ask the service compares
 * with it. Nothing can be written. Numbers below 1 stand for those that only the service knows.
 */
export function assumedService(assumed: Assumed): PromptService {
  const now = new Map(assumed.files.map((file) => [file.id, file]));
  return {
    readPrompt: async (promptId, environment) => {
      const then = assumed.base.get(promptId) ?? null;
      const file = now.get(promptId);
      if (file === undefined) throw refusal();
      const { key, name, description = '' } = then ?? file;
      const activeVersion = activeIn(environment, then, file, assumed);
      return { id: promptId, key, name, description, latestVersionId: null, activeVersion };
    },
    createVersion: () => Promise.reject(refusal()),
    updatePrompt: () => Promise.reject(refusal()),
    setActive: () => Promise.reject(refusal()),
  };
}

function refusal(): ServiceError {
  return new ServiceError(makeProblem('internal/unexpected', { reason: 'the service may not be asked' }), 'not-sent');
}

/**
 * What the base does not pin is taken for empty; the tool's own environment stands on the base's own text. That of a
 * prompt that the base does not have knows only the numbers that are pinned: nobody can say that they are not there.
 */
function activeIn(
  environment: string | undefined,
  then: PromptFile | null,
  now: PromptFile,
  assumed: Assumed,
): Version | null {
  const tracked: readonly Pin[] = environment === assumed.trackingEnvironment ? [{ kind: 'latest' }] : [];
  const pinned = (then?.pins ?? []).filter((one) => one.environment === environment).map(({ pin }) => pin);
  const active = [...tracked, ...pinned].map(pinText)[0];
  return active === undefined ? null : (versionsOf(then, now, assumed).get(active) ?? null);
}

/** By the pin that means it. Each version knows of all others: the files of now may pin them. */
function versionsOf(
  then: PromptFile | null,
  now: PromptFile,
  { contentsAtRefs }: Assumed,
): ReadonlyMap<string, Version> {
  const pins: readonly Pin[] = [{ kind: 'latest' }, ...[...(then?.pins ?? []), ...now.pins].map(({ pin }) => pin)];
  const versions = new Map(
    pins.flatMap((pin, index): [string, Version][] => {
      const content = pin.kind === 'latest' ? (then?.content ?? 'unread') : contentAt(contentsAtRefs.get(now.id), pin);
      return content === null ? [] : [[pinText(pin), versionOf(pin, content, -index)]];
    }),
  );
  const ledger = [...versions.values()].map((version) => entryOf(withLedger(version, [])));
  return new Map([...versions].map(([pin, version]) => [pin, withLedger(version, ledger)]));
}

function contentAt(
  atRefs: ReadonlyMap<string, ContentAtRef | Problem> | undefined,
  pin: Pin,
): Content | 'unread' | null {
  if (pin.kind !== 'git') return 'unread';
  const at = atRefs?.get(pin.ref);
  return at === undefined || 'code' in at ? null : at.content;
}

function versionOf(pin: Pin, content: Content | 'unread', number: number): Version {
  if (content !== 'unread') {
    const { text, digest, metadata = {}, metadataDigest = EMPTY_METADATA_DIGEST } = content;
    const id = pin.kind === 'latest' ? 'base' : pinText(pin);
    return { id, number, text, digest, metadata, metadataDigest, stamp: null };
  }
  const named = pin.kind === 'number' ? { id: `v${pin.number}`, number: pin.number } : { id: idOf(pin), number };
  const digest = contentDigest(`promptsync: the text of ${pinText(pin)}`);
  return { ...named, text: '', digest, metadata: {}, metadataDigest: EMPTY_METADATA_DIGEST, stamp: null, unread: true };
}

function idOf(pin: Pin): string {
  return pin.kind === 'version' ? pin.id : pinText(pin);
}

function withLedger(version: Version, ledger: readonly LedgerEntry[]): Version {
  return { ...version, stamp: { digest: version.digest, operation: 'assumed', ledger } };
}

/** The plan as it can be shown: without the numbers that nobody knows. */
export function withoutAssumedNumbers(plan: Plan): Plan {
  const prompts = plan.prompts.map((prompt) => ({ ...prompt, changes: prompt.changes.map(unnumbered) }));
  return { ...plan, prompts };
}

function unnumbered(change: Change): Change {
  if (change.kind !== 'set-active') return change;
  const before = change.before === null ? null : known(change.before);
  return { ...change, before, after: isNew(change.after) ? change.after : known(change.after) };
}

function known({ id, number }: VersionRef): VersionRef {
  return { id, number: number === null || number < 1 ? null : number };
}
