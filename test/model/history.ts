import { findIntroducingCommits } from '../../src/desired/read-wanted-since.ts';
import type {
  BaseState,
  FormerStates,
  PlanningHistory as Recalled,
  WantedSinceByEnvironment,
} from '../../src/domain/desired-state.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ObservedPrompt } from '../../src/domain/observed-prompt.ts';
import type { ContentAtRef, ContentsAtRefs, Provenance } from '../../src/domain/plan.ts';
import type { PromptType } from '../../src/domain/chat.ts';
import type { Pin, PromptFile } from '../../src/domain/prompt-file.ts';
import { makeSuccess } from '../../src/domain/result.ts';
import { type Content, type DigestedText, makeContent } from '../../src/domain/content.ts';
import { digestBody } from '../../src/files/parse-body.ts';
import { makeBody } from '../doubles/langfuse-messages.ts';
import type { Edit, PinIdea } from './commands.ts';
import { file, type WrittenPins } from '../planning/support.ts';

/** The id and number by which a pin can name a version. */
type Pinnable = { readonly id: string; readonly number: number };

/** The versions of one prompt and of the others. If the service has no pins by id, edits pin numbers instead. */
export type Ids = {
  /** The right type of the file, and a wrong one. In a service with only text prompts, both are `text`. */
  readonly types: { readonly right: PromptType; readonly wrong: PromptType };
  readonly own: readonly Pinnable[];
  readonly others: readonly Pinnable[];
  readonly pinsIds: boolean;
};

/** Returns the first draft of a prompt file, with the given parts of an import. */
export function firstDraft(promptId: string, type: PromptType, imported: Partial<Draft> = {}): Draft {
  return {
    path: `prompts/${promptId}.md`,
    key: `k/${promptId}`,
    name: 'First',
    description: null,
    type,
    text: 'A',
    metadata: null,
    pins: { staging: 'latest' },
    ...imported,
  };
}

/** Applies an edit to a draft. Returns `null` if the edit removes the file. */
export function applyEdit(draft: Draft, edit: Edit, ids: Ids): Draft | null {
  switch (edit.edit) {
    case 'text':
      return { ...draft, text: edit.text };
    case 'metadata':
      return { ...draft, metadata: edit.metadata };
    case 'name':
      return { ...draft, name: edit.name };
    case 'description':
      return { ...draft, description: edit.description };
    case 'type':
      return { ...draft, type: edit.isRight ? ids.types.right : ids.types.wrong };
    case 'pin':
      return { ...draft, pins: pinned(draft, edit.environment, edit.idea, ids) };
    case 'only-pin':
      return { ...draft, pins: { [edit.environment]: written(edit.idea, ids) } };
    case 'move':
      return { ...draft, path: draft.path.endsWith('-moved.md') ? draft.path.replace('-moved', '') : moved(draft) };
    case 'remove':
      return null;
  }
}

function pinned({ pins }: Draft, environment: string, idea: PinIdea | null, ids: Ids): Draft['pins'] {
  const others = Object.entries(pins).filter(([name]) => name !== environment);
  return Object.fromEntries(idea === null ? others : [...others, [environment, written(idea, ids)]]);
}

/** Returns the pin as written in the file. Without any version, it names the first one. */
function written(idea: PinIdea, { own, others, pinsIds }: Ids): string | number {
  const pinTo = (version = NOTHING) => (pinsIds ? `version:${version.id}` : version.number);
  switch (idea.pin) {
    case 'latest':
      return 'latest';
    case 'number':
      return nth(own, idea.nth)?.number ?? 1;
    case 'number-of-nothing':
      return (own.at(-1)?.number ?? 0) + 1 + idea.beyond;
    case 'id':
      return pinTo(nth(own, idea.nth));
    case 'id-of-another':
      return pinTo(nth(others, idea.nth));
    case 'git':
      return `git:${idea.tag}`;
  }
}

const NOTHING: Pinnable = { id: 'ver_none', number: 1 };

/** Returns the nth version counted from the newest, and wraps around. */
function nth(versions: readonly Pinnable[], number: number): Pinnable | undefined {
  return versions.at(-1 - (number % Math.max(1, versions.length)));
}

function moved({ path }: Draft): string {
  return path.replace('.md', '-moved.md');
}

/** The content of a prompt file as its author writes it. The messages of a chat prompt follow from `text`. */
export type Draft = {
  readonly path: string;
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: PromptType;
  readonly text: string;
  readonly metadata: JsonObject | null;
  readonly pins: WrittenPins;
};

/** A committed file with the last commit that changed it. */
export type Committed = { readonly draft: Draft; readonly file: PromptFile; readonly touchedBy: string };

/** A commit with its time in seconds and all files, by prompt id. */
export type Commit = { readonly id: string; readonly time: number; readonly files: ReadonlyMap<string, Committed> };

/** A simplified repository: each commit, including a merge, has the previous commit as its only parent. */
export type History = {
  readonly commits: Commit[];
  readonly tags: Map<string, Commit>;
  /** Returns the time of a new commit, in seconds. */
  readonly readClock: () => number;
};

export function newHistory(drafts: ReadonlyMap<string, Draft>, readClock: () => number): History {
  const history: History = { commits: [{ id: 'c0', time: readClock(), files: new Map() }], tags: new Map(), readClock };
  for (const [promptId, draft] of drafts) commit(history, promptId, draft);
  history.tags.set('v1', head(history));
  return history;
}

export function head({ commits }: History): Commit {
  return commits.at(-1)!;
}

export function commitAgo({ commits }: History, ago: number): Commit {
  return commits[Math.max(0, commits.length - 1 - ago)]!;
}

/** Returns the file of a prompt in a commit. A file with the other type belongs to another prompt of the same name. */
export function findCommitted({ files }: Commit, { id, type }: Pick<PromptFile, 'id' | 'type'>): Committed | undefined {
  const committed = files.get(id);
  return committed?.file.type === type ? committed : undefined;
}

/** Commits the file of one prompt. `null` removes the file. */
export function commit(history: History, promptId: string, draft: Draft | null): void {
  const id = `c${history.commits.length}`;
  const files = new Map(head(history).files);
  if (draft === null) files.delete(promptId);
  else files.set(promptId, { draft, file: toFile(promptId, draft), touchedBy: id });
  history.commits.push({ id, time: history.readClock(), files });
}

/** Returns the content of the file at a path in a commit. */
export function contentAtPath({ commits }: History, commitId: string, path: string): Content | null {
  const found = commits.find(({ id }) => id === commitId);
  return [...(found?.files.values() ?? [])].find(({ file }) => file.path === path)?.file.content ?? null;
}

/** Returns the content of the prompt at each tag that the file pins. Tags without the prompt are left out. */
export function contentsAtTags({ tags }: History, wanted: PromptFile): ReadonlyMap<string, ContentAtRef> {
  const entries = wanted.pins.flatMap(({ pin }): [string, ContentAtRef][] => {
    const at = pin.kind === 'git' ? tags.get(pin.ref) : undefined;
    const found = at && findCommitted(at, wanted);
    if (pin.kind !== 'git' || at === undefined || found === undefined) return [];
    const provenance = { commit: at.id, path: found.file.path, changeSummary: `As of ${pin.ref}` };
    // A copy, as if read from git, because no plan may depend on object identity.
    return [[pin.ref, { content: { ...found.file.content }, provenance }]];
  });
  return new Map(entries);
}

/** Returns the content of the file and the contents that its `git:` pins name. */
export function contentsOf(history: History, file: PromptFile): readonly Content[] {
  return [file.content, ...[...contentsAtTags(history, file).values()].map(({ content }) => content)];
}

/** Returns the provenance of each file, by path. */
export function provenanceOf({ files }: Commit): ReadonlyMap<string, Provenance> {
  const entries = [...files.values()].map(({ file, touchedBy }): [string, Provenance] => [
    file.path,
    { commit: touchedBy, path: file.path, changeSummary: `Commit ${touchedBy}` },
  ]);
  return new Map(entries);
}

/** Returns the input of drift detection for a base. All earlier commits are ancestors of the base. */
export function baseOf(
  history: History,
  base: Commit,
  files: readonly PromptFile[],
): BaseState & Pick<Recalled, 'formerStates'> {
  const then = files.flatMap((file) => findCommitted(base, file)?.file ?? []);
  return {
    files: new Map(then.map((file) => [file.id, file])),
    isDefault: false,
    formerStates: new Map(then.map((file) => [file.id, formerWants(history, file)])),
  };
}

/** Returns since when the head has wanted what the pins of a file want. */
export function wantedSinceOf(history: History, file: PromptFile, observed: ObservedPrompt): WantedSinceByEnvironment {
  const states = [...new Set(history.commits.flatMap((one) => findCommitted(one, file) ?? []))].toReversed();
  const commits = states.map(({ touchedBy }) => touchedBy);
  const introduced = findIntroducingCommits(file, observed, contentsAtRefsOf(history, file), {
    ...{ commits, isComplete: true, pins: formerWants(history, file).pins },
  });
  const timeOf = (id: string) => history.commits.find((one) => one.id === id)?.time ?? 0;
  return new Map([...introduced].map(([environment, commit]) => [environment, { commit, time: timeOf(commit) }]));
}

function contentsAtRefsOf(history: History, file: PromptFile): ContentsAtRefs {
  return new Map([...contentsAtTags(history, file)].map(([ref, at]) => [ref, makeSuccess(at)]));
}

/** Returns what all commits wanted. All of them are ancestors of the head. */
function formerWants(history: History, prompt: PromptFile): FormerStates {
  const files = history.commits.flatMap((one) => findCommitted(one, prompt) ?? []);
  const states = [...new Set(files)].toReversed();
  const pins = states.flatMap(({ file, touchedBy: commit }, age) =>
    file.pins.map(({ environment, pin }) => ({
      environment,
      former: { commit, age, pin, content: meant(history, file, pin), isFixed: pin.kind !== 'git' },
    })),
  );
  const all = Map.groupBy(pins, ({ environment }) => environment);
  return {
    pins: new Map([...all].map(([environment, list]) => [environment, list.map(({ former }) => former)])),
    fields: states.map(({ file, touchedBy: commit }) => ({ ...file, commit })),
  };
}

function meant(history: History, file: PromptFile, pin: Pin): Content | null {
  if (pin.kind === 'latest') return file.content;
  return pin.kind === 'git' ? (contentsAtTags(history, file).get(pin.ref)?.content ?? null) : null;
}

/** Returns the text of a prompt file, with its digest, for a text of the model. */
export function digestWritten(type: PromptType, text: string): DigestedText {
  return digestBody(type, makeBody(type, text));
}

function toFile(id: string, { description, metadata, text, ...draft }: Draft): PromptFile {
  const content = makeContent(digestWritten(draft.type, text), metadata ?? undefined);
  return { ...file({ ...draft, ...(description !== null && { description }) }), id, content };
}
