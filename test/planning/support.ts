import { contentDigest, digested, metadataDigest } from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Desired, History } from '../../src/domain/desired.ts';
import type { FormerPin, FormerPins } from '../../src/domain/history.ts';
import type { Observation, Observed } from '../../src/domain/observed.ts';
import { type Change, type ContentAtRef, isNew, type Plan, type PromptPlan } from '../../src/domain/plan.ts';
import type { VersionRef } from '../../src/domain/versions.ts';
import { pinText, type Content, type EnvironmentPin, type Pin, type PromptFile } from '../../src/domain/prompt-file.ts';
import { entryOf } from '../../src/ledger/ownership.ts';
import { interpret, type Reading } from '../../src/ledger/reading.ts';
import type { LedgerEntry, Version } from '../../src/ledger/stamp.ts';
import { makePlan as plan, planPrompt as planned } from '../../src/planning/make-plan.ts';

/** Pins as they are written in a file. */
export type WrittenPins = Readonly<Record<string, string | number>>;

export function content(text: string, metadata?: JsonObject): Content {
  const managed = metadata === undefined ? {} : { metadata, metadataDigest: metadataDigest(metadata) };
  return { ...digested(text), ...managed };
}

export type FileParts = Partial<Omit<PromptFile, 'pins' | 'content'>> & {
  readonly text?: string;
  readonly metadata?: JsonObject;
  readonly pins?: WrittenPins;
};

/** The file of prompt `p1`, in sync with the fields that `observed` gives; pins stand on lines 5, 6, … */
export function file({ text = 'Hello', metadata, pins = {}, ...rest }: FileParts = {}): PromptFile {
  const own = { path: 'prompts/a.md', id: 'p1', key: 'k/1', name: 'First', content: content(text, metadata) };
  return { ...own, pins: Object.entries(pins).map(toPin), ...rest };
}

function toPin([environment, written]: [string, string | number], index: number): EnvironmentPin {
  return { environment, pin: parsePin(written), line: 5 + index, column: 3 };
}

function parsePin(written: string | number): Pin {
  if (typeof written === 'number') return { kind: 'number', number: written };
  if (written.startsWith('git:')) return { kind: 'git', ref: written.slice(4) };
  return written.startsWith('version:') ? { kind: 'version', id: written.slice(8) } : { kind: 'latest' };
}

export type VersionParts = {
  readonly id?: string;
  readonly metadata?: JsonObject;
  readonly ledger?: readonly LedgerEntry[];
  /** The text that the stamp speaks of; null where there is no stamp. By default the version's own. */
  readonly stampFor?: string | null;
};

/** Version `ver_<number>`, made by the tool unless the parts say otherwise. */
export function version(number: number, text: string, parts: VersionParts = {}): Version {
  const { id = `ver_${number}`, metadata = {}, ledger = [], stampFor = text } = parts;
  const stamp =
    stampFor === null
      ? null
      : { digest: contentDigest(stampFor), commit: `c${number}`, path: 'prompts/a.md', operation: `op_${id}`, ledger };
  return {
    id,
    number,
    ...digested(text),
    metadata,
    metadataDigest: metadataDigest(metadata),
    stamp,
  };
}

export function outside(number: number, text: string, metadata: JsonObject = {}): Version {
  return version(number, text, { metadata, stampFor: null });
}

/** A version that only a ledger names. */
export function entry(number: number, text: string, parts: VersionParts = {}): LedgerEntry {
  return entryOf(version(number, text, parts));
}

export const TRACKING = 'promptsync';

export type ObservedParts = Partial<Omit<Reading, 'prompt' | 'active'>> & {
  readonly prompt?: Partial<Reading['prompt']>;
  readonly active?: Readonly<Record<string, Version | null>>;
};

/** What a reading says, interpreted as the ledger does; `promptsync` among the environments is the tracking one. */
export function observed(parts: ObservedParts = {}): Observed {
  const environments = Object.keys(parts.active ?? {}).filter((name) => name !== TRACKING);
  return interpret(reading(parts), environments, TRACKING);
}

/** Prompt `p1` as the service has it; the latest version is the newest one active unless the parts say otherwise. */
export function reading({ prompt, active = {}, looked = [], missing = [] }: ObservedParts = {}): Reading {
  const newest = Object.values(active).reduce(
    (found, one) => (one === null || (found !== null && found.number > one.number) ? found : one),
    null,
  );
  const own = { id: 'p1', key: 'k/1', name: 'First', description: '', latestVersionId: newest?.id ?? null };
  return { prompt: { ...own, ...prompt }, active: new Map(Object.entries(active)), looked, missing };
}

export function observation(...prompts: readonly Observed[]): Observation {
  return { observed: new Map(prompts.map((one) => [one.fields!.id, one])), failed: new Map() };
}

export type RulesParts = Partial<Omit<Desired, 'contentsAtRefs'> & History> & {
  readonly refs?: Readonly<Record<string, ContentAtRef | Content>>;
};

/** What a plan is made by besides files and observation; refs are those of prompt `p1`. */
export type Rules = Desired & History;

export function rules({ refs = {}, ...rest }: RulesParts = {}): Rules {
  const contents = Object.entries(refs).map(([ref, at]): [string, ContentAtRef] => [
    ref,
    'content' in at ? at : { content: at, provenance: { commit: `at-${ref}`, path: 'prompts/a.md' } },
  ]);
  const contentsAtRefs = new Map([['p1', new Map(contents)]]);
  return {
    ...{ files: [], contentsAtRefs, base: null },
    ...{ environmentOrder: null, latestForbidden: [], promotedFrom: new Map() },
    ...{
      formerPins: new Map(),
      firstAges: new Map(),
      formerWants: new Map(),
      pinnedAlways: new Map(),
      provenance: new Map(),
      contents: new Map(),
    },
    ...rest,
  };
}

/** How a file's environments were pinned in earlier states, newest first; `latest` and refs meant the state's text. */
export function formerPins(states: readonly (WrittenPins & { readonly text?: string })[]): FormerPins {
  const all = states.flatMap(({ text, ...pins }, age) =>
    file({ pins }).pins.map(({ environment, pin }) => {
      const isText = pin.kind === 'latest' || (pin.kind === 'git' && text !== undefined);
      const known = isText ? content(text ?? 'Hello') : null;
      return {
        environment,
        former: { commit: `c${age}`, age, pin, content: known, isFixed: isFixed(pin) } satisfies FormerPin,
      };
    }),
  );
  const groups = Map.groupBy(all, ({ environment }) => environment);
  return new Map([...groups].map(([name, list]) => [name, list.map(({ former }) => former)]));
}

/** Whether a pin cannot mean another version later: commit ids do not move, branches and tags do. */
function isFixed(pin: Pin): boolean {
  return pin.kind !== 'git' || /^[0-9a-f]{40}$/.test(pin.ref);
}

/** A prompt's plan in lines: what it changes, what blocks it, what it would look for. */
export function planLines({ changes, problems, finds }: PromptPlan): readonly string[] {
  return [
    ...changes.flatMap(changeLines),
    ...problems.map(({ code }) => `blocked: ${code}`),
    ...finds.map((pin) => `find: ${pinText(pin)}`),
  ];
}

function changeLines(change: Change): readonly string[] {
  switch (change.kind) {
    case 'create-version':
      return [`create ${contentName(change.content)}${change.ref === undefined ? '' : ` for git:${change.ref}`}`];
    case 'update-prompt':
      return Object.entries(change.fields).map(([field, { before, after }]) => `${field}: "${before}" → "${after}"`);
    case 'set-active':
      return [`${change.environment}: ${change.before === null ? 'none' : refName(change.before)} → ${target(change)}`];
  }
}

function target({ after }: Change & { kind: 'set-active' }): string {
  return isNew(after) ? `new ${contentName(after.new)}` : refName(after);
}

function refName({ id, number }: VersionRef): string {
  return number === null || id !== `ver_${number}` ? id : `v${number}`;
}

function contentName({ text, metadata }: Content): string {
  return metadata === undefined ? `"${text}"` : `"${text}" ${JSON.stringify(metadata)}`;
}

/** Frozen through and through: whatever writes to it throws. Maps are guarded as well. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    value.forEach((held, key) => [deepFreeze(held), deepFreeze(key)]);
    const refuse = (): never => {
      throw new TypeError('a frozen map was written to');
    };
    Object.assign(value, { set: refuse, delete: refuse, clear: refuse });
  }
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

/** The plan of one prompt by these rules. */
export function planPrompt(one: PromptFile, seen: Observed, by: Rules): PromptPlan {
  return planned(one, seen, by, by);
}

/** The plan of files by these rules. */
export function makePlan(files: readonly PromptFile[], seen: Observation, by: Rules): Plan {
  return plan({ ...by, files }, seen, by);
}
