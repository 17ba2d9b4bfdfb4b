import {
  type Content,
  computeContentDigest,
  computeMetadataDigest,
  makeContent,
  makeVersionContent,
  digestText,
} from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { DesiredState } from '../../src/domain/desired-state.ts';
import type { Observation, ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import { type Change, type ContentAtRef, isNewVersionRef, type Plan, type PromptPlan } from '../../src/domain/plan.ts';
import { makeSuccess, type Result } from '../../src/domain/result.ts';
import type { VersionRef } from '../../src/domain/versions.ts';
import { formatPin, type EnvironmentPin, type Pin, type PromptFile } from '../../src/domain/prompt-file.ts';
import type { Line, LineState, Want } from '../../src/history/line-of-states.ts';
import {
  type BaseHistory,
  NO_PROMPT_HISTORY,
  type PlanningHistory,
  type PromptHistory,
} from '../../src/history/prompt-history.ts';
import { makeLedgerEntry } from '../../src/providers/four-call/ownership.ts';
import { interpretLedgerReading, type LedgerReading } from '../../src/providers/four-call/reading.ts';
import type { LedgerEntry, LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { makePlan as plan, planPrompt as planned } from '../../src/planning/make-plan.ts';

/** Pins in the form that a prompt file uses. */
export type WrittenPins = Readonly<Record<string, string | number>>;

export function content(text: string, metadata?: JsonObject): Content {
  return makeContent(digestText(text), metadata);
}

export type FileParts = Partial<Omit<PromptFile, 'pins' | 'content'>> & {
  readonly text?: string;
  readonly metadata?: JsonObject;
  readonly pins?: WrittenPins;
};

/** Makes the file of prompt `p1`. Its fields match those of `observed`, and its pins are on lines 5, 6, … */
export function file({ text = 'Hello', metadata, pins = {}, ...rest }: FileParts = {}): PromptFile {
  const names = { path: 'prompts/a.md', id: 'p1', key: 'k/1', name: 'First', type: 'text' } as const;
  const own = { ...names, content: content(text, metadata) };
  return { ...own, pins: Object.entries(pins).map(toPin), ...rest };
}

function toPin([environment, written]: [string, string | number], index: number): EnvironmentPin {
  return { environment, pin: parsePin(`${written}`), line: 5 + index, column: 3 };
}

function parsePin(written: string): Pin {
  if (/^\d+$/.test(written)) return { kind: 'number', number: Number(written) };
  if (written.startsWith('git:')) return { kind: 'git', ref: written.slice(4) };
  return written.startsWith('version:') ? { kind: 'version', id: written.slice(8) } : { kind: 'latest' };
}

export type VersionParts = {
  readonly id?: string;
  readonly metadata?: JsonObject;
  readonly ledger?: readonly LedgerEntry[];
  /** The text whose digest the version record holds, by default the text of the version. `null`: no version record. */
  readonly stampFor?: string | null;
};

/** Makes version `ver_<number>`. It is a managed version by default. */
export function version(number: number, text: string, parts: VersionParts = {}): LedgerVersion {
  const { id = `ver_${number}`, metadata = {}, ledger = [], stampFor = text } = parts;
  const stamp =
    stampFor === null
      ? null
      : {
          digest: computeContentDigest(stampFor),
          metadataDigest: computeMetadataDigest(metadata),
          commit: `c${number}`,
          path: 'prompts/a.md',
          operation: `op_${id}`,
          ledger,
        };
  return {
    id,
    number,
    content: makeVersionContent(digestText(text), metadata),
    record: stamp,
  };
}

export function outside(number: number, text: string, metadata: JsonObject = {}): LedgerVersion {
  return version(number, text, { metadata, stampFor: null });
}

/** Makes the ledger entry of a version that promptsync did not read. */
export function entry(number: number, text: string, parts: VersionParts = {}): LedgerEntry {
  return makeLedgerEntry(version(number, text, parts));
}

/**
 * Parses a version: `7:Seven` is a managed version, `~7:Seven` a foreign one, and `-` none. Metadata and the ledger
 * follow the text: `9:Nine{"model":"x"}(8:Eight,~7:Seven)`.
 */
export function parseVersion(word: string): LedgerVersion | null {
  if (word === '-') return null;
  const [, foreign, number, text = '', metadata = '{}', ledger = ''] =
    /^(~?)(\d+):([^{(]*)(\{.*?\})?(?:\((.*)\))?$/.exec(word)!;
  const known = ledger.split(',').filter((one) => one !== '');
  return version(Number(number), text, {
    metadata: JSON.parse(metadata),
    ledger: known.map((one) => makeLedgerEntry(parseVersion(one)!)),
    stampFor: foreign === '' ? text : null,
  });
}

/** Splits `staging=latest qa=2` into pairs. A word without `=` has an empty key, and `nothing` stands for no words. */
function parseWords(words: string): readonly (readonly [key: string, value: string])[] {
  const all = words.split(' ').filter((word) => word !== '' && word !== 'nothing');
  return all.map((word) => [/^[^={]*(?==)/.exec(word)?.[0] ?? '', word.replace(/^[^={]*=/, '')]);
}

const FIELDS = ['key', 'name', 'description'];

/** Parses the fields and pins of a file, such as `Hi{"model":"x"} name=New staging=latest`. Its text is optional. */
export function parseFile(words: string): FileParts & { readonly pins: WrittenPins } {
  const pairs = parseWords(words);
  const fields = pairs.filter(([key]) => FIELDS.includes(key));
  const pins = pairs.filter(([key]) => key !== '' && !FIELDS.includes(key));
  const [, written] = pairs.find(([key]) => key === '') ?? [];
  return {
    ...(written !== undefined && parseText(written)),
    ...Object.fromEntries(fields),
    pins: Object.fromEntries(pins),
  };
}

function parseText(word: string): { readonly text: string; readonly metadata?: JsonObject } {
  const [, text = '', metadata] = /^([^{]*)(\{.*\})?$/.exec(word)!;
  return { text, ...(metadata !== undefined && { metadata: JSON.parse(metadata) }) };
}

/** Parses the content of a git ref, such as `Hi{"model":"x"}`. */
export function parseContent(word: string): Content {
  const { text, metadata } = parseText(word);
  return content(text, metadata);
}

/**
 * Parses the state of the service: the version of each environment, such as `staging=2:Two production=-`. The prompt may
 * have fields and the id of its `latest` version, and versions may be `probed` or `missing`.
 */
export function parseService(words: string): ObservedParts & { readonly active: object } {
  const pairs = parseWords(words);
  const valuesOf = (key: string) => pairs.flatMap(([own, value]) => (own === key ? [value] : []));
  const fields = pairs.filter(([key]) => FIELDS.includes(key));
  const latest = valuesOf('latest').map((id) => ['latestVersionId', id]);
  const active = pairs.filter(([key]) => ![...FIELDS, 'latest', 'probed', 'missing'].includes(key));
  return {
    prompt: Object.fromEntries([...fields, ...latest]),
    active: Object.fromEntries(active.map(([name, word]) => [name, parseVersion(word)])),
    others: valuesOf('probed').map((word) => parseVersion(word)!),
    missingIds: valuesOf('missing'),
  };
}

/** Parses contents at git refs, such as `git:v1=Old`, and environments that are `closed` to the pin latest. */
export function parseRules(words: string): RulesParts {
  const pairs = parseWords(words);
  const refs = pairs.filter(([key]) => key.startsWith('git:')).map(([key, word]) => [key.slice(4), parseContent(word)]);
  const listOf = (key: string) => pairs.find(([own]) => own === key)?.[1].split(',');
  return {
    refs: Object.fromEntries(refs),
    environmentsWithoutLatest: listOf('closed') ?? [],
    movingRefs: new Set(listOf('moving')),
    environmentOrder: listOf('order') ?? null,
  };
}

export const TRACKING = 'promptsync';

export type ObservedParts = Partial<Omit<LedgerReading, 'prompt' | 'active'>> & {
  readonly prompt?: Partial<LedgerReading['prompt']>;
  readonly active?: Readonly<Record<string, LedgerVersion | null>>;
};

/** Makes the observation of a prompt from a reading. The environment `promptsync` is the tracking environment. */
export function observed(parts: ObservedParts = {}): ObservedPrompt {
  const environments = Object.keys(parts.active ?? {}).filter((name) => name !== TRACKING);
  return interpretLedgerReading(reading(parts), environments);
}

/** Makes the reading of prompt `p1`. By default, its latest version is the newest active version. */
export function reading({
  prompt,
  active = {},
  others: looked = [],
  missingIds: missing = [],
}: ObservedParts = {}): LedgerReading {
  const newest = Object.values(active).reduce(
    (found, one) => (one === null || (found !== null && found.number > one.number) ? found : one),
    null,
  );
  const own = { id: 'p1', key: 'k/1', name: 'First', description: '', latestVersionId: newest?.id ?? null };
  return {
    prompt: { ...own, ...prompt },
    active: new Map(Object.entries(active)),
    others: looked,
    missingIds: missing,
  };
}

export function observation(...prompts: readonly ObservedPrompt[]): Observation {
  return { observed: new Map(prompts.map((one) => [one.fields!.id, one])), failed: new Map() };
}

export type RulesParts = Partial<Omit<DesiredState, 'contentsAtRefs'>> & {
  readonly refs?: Readonly<Record<string, ContentAtRef | Content>>;
  /** The history of the prompt `p1`. */
  readonly history?: Partial<PromptHistory>;
};

/** The input of a plan besides the files and the observation. */
export type Rules = DesiredState & { readonly planningHistory: PlanningHistory };

export function rules({ refs = {}, history = {}, ...rest }: RulesParts = {}): Rules {
  const contents = Object.entries(refs).map(([ref, at]): [string, Result<ContentAtRef>] => [
    ref,
    makeSuccess('content' in at ? at : { content: at, provenance: { commit: `at-${ref}`, path: 'prompts/a.md' } }),
  ]);
  return {
    files: [],
    contentsAtRefs: new Map([['p1', new Map(contents)]]),
    base: null,
    environmentOrder: null,
    environmentsWithoutLatest: [],
    movingRefs: new Set<string>(),
    promotionSources: new Map(),
    otherPromotionSources: new Map(),
    environmentSelection: null,
    planningHistory: new Map([['p1', { ...NO_PROMPT_HISTORY, ...history }]]),
    ...rest,
  };
}

/** The parts of one state of the file `p1`. */
export type StateParts = FileParts & {
  /** By default, `c0` for the newest state, `c1` for the one before, and so on. */
  readonly commit?: string | null;
  readonly time?: number | null;
};

/** The ref that moves. All other refs in the pins of a state are fixed. */
export const MOVING_REF = 'main';

/**
 * Makes a line from the states of the file `p1`, newest first. By default, the line is complete. A `git:` pin
 * wants the text of its own state. In older states, a pin to `MOVING_REF` wants nothing.
 */
export function line(states: readonly StateParts[], parts: Partial<Omit<Line, 'states'>> = {}): Line {
  const made = states.map((state, age) => lineState({ commit: `c${age}`, ...state }, age > 0));
  return { states: made, isCut: false, isComplete: parts.isCut !== true, ...parts };
}

function lineState({ commit = null, time, ...parts }: StateParts, isOlder: boolean): LineState {
  const made = file(parts);
  const wants = made.pins.flatMap(({ environment, pin }): readonly [string, Want][] => {
    if (pin.kind === 'number' || pin.kind === 'version') return [[environment, pin]];
    const isMoving = pin.kind === 'git' && pin.ref === MOVING_REF;
    return isMoving && isOlder ? [] : [[environment, { kind: 'content', content: made.content, isMoving }]];
  });
  return { commit, time: time === undefined ? 1_785_196_800 : time, file: made, wants: new Map(wants) };
}

/**
 * Makes the base of a plan, and the history that promptsync reads to compare the prompt with it.
 * @param states the states of the base's line, newest first
 * @param parts what else git shows; by default, HEAD is the base, and the live branch has the same states
 */
export function compareWithBase(
  states: readonly StateParts[],
  parts: Partial<BaseHistory> & { readonly isDefault?: boolean; readonly isShallow?: boolean } = {},
): Required<Pick<RulesParts, 'base' | 'history'>> {
  const { isDefault = true, isShallow = false, ...rest } = parts;
  const baseLine = line(states);
  const base: BaseHistory = {
    line: baseLine,
    headStates: [],
    tipStates: [],
    unmergedCommits: new Set(),
    messageSources: new Map(),
    missingCommits: new Set(),
    ...rest,
  };
  return {
    base: { files: new Map(baseLine.states.slice(0, 1).map((newest) => ['p1', newest.file])), isDefault },
    history: { line: { ...baseLine, states: [...base.headStates, ...baseLine.states] }, base, isShallow },
  };
}

/** Formats the plan of a prompt: one line for each change, each problem and each pin to probe for. */
export function planLines({ changes, problems, pinsToFind }: PromptPlan): readonly string[] {
  return [
    ...changes.flatMap(changeLines),
    ...problems.map(({ code }) => `blocked: ${code}`),
    ...pinsToFind.map((pin) => `find: ${formatPin(pin)}`),
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
  return isNewVersionRef(after) ? `new ${contentName(after.newContent)}` : refName(after);
}

function refName({ id, number }: VersionRef): string {
  return number === null || id !== `ver_${number}` ? id : `v${number}`;
}

function contentName({ text, metadata }: Content): string {
  return metadata === undefined ? `"${text}"` : `"${text}" ${JSON.stringify(metadata)}`;
}

/** Freezes a value deeply, so that any write to it throws. This includes maps. */
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

/** Plans one prompt by these rules. */
export function planPrompt(one: PromptFile, seen: ObservedPrompt, by: Rules): PromptPlan {
  return planned(one, seen, by, by.planningHistory.get(one.id));
}

/** Plans files by these rules. */
export function makePlan(files: readonly PromptFile[], seen: Observation, by: Rules): Plan {
  return plan({ ...by, files }, seen, by.planningHistory);
}
