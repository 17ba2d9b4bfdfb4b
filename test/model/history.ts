import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ContentAtRef } from '../../src/domain/plan.ts';
import type { PromptType } from '../../src/domain/chat.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { type Content, type DigestedText, makeContent } from '../../src/domain/content.ts';
import { digestBody } from '../../src/workspace/parse-body.ts';
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
export type Committed = { readonly draft: Draft; readonly file: PromptFile; readonly touchedBy: Commit };

/** A commit with its position in the history, its time in seconds, and all files by prompt id. */
export type Commit = {
  readonly index: number;
  readonly id: string;
  readonly time: number;
  readonly files: ReadonlyMap<string, Committed>;
};

/** A simplified repository: each commit, including a merge, has the previous commit as its only parent. */
export type History = {
  readonly commits: Commit[];
  readonly tags: Map<string, Commit>;
  /** Returns the time of a new commit, in seconds. */
  readonly readClock: () => number;
};

export function newHistory(drafts: ReadonlyMap<string, Draft>, readClock: () => number): History {
  const first: Commit = { index: 0, id: 'c0', time: readClock(), files: new Map() };
  const history: History = { commits: [first], tags: new Map(), readClock };
  for (const [promptId, draft] of drafts) commit(history, promptId, draft);
  history.tags.set('v1', head(history));
  return history;
}

export function head({ commits }: History): Commit {
  return commits.at(-1)!;
}

/** Returns an earlier commit, counted from the head or from another commit. */
export function commitAgo(history: History, ago: number, from = head(history)): Commit {
  return history.commits[Math.max(0, from.index - ago)]!;
}

/** Returns the file of a prompt in a commit. A file with the other type belongs to another prompt of the same name. */
export function findCommitted({ files }: Commit, { id, type }: Pick<PromptFile, 'id' | 'type'>): Committed | undefined {
  const committed = files.get(id);
  return committed?.file.type === type ? committed : undefined;
}

/** Commits the file of one prompt. `null` removes the file. A commit that changes nothing leaves the file as it is. */
export function commit(history: History, promptId: string, draft: Draft | null): void {
  const { commits } = history;
  const files = new Map(head(history).files);
  const next: Commit = { index: commits.length, id: `c${commits.length}`, time: history.readClock(), files };
  if (draft === null) files.delete(promptId);
  else if (!isDeepStrictEqual(files.get(promptId)?.draft, draft)) {
    files.set(promptId, { draft, file: toFile(promptId, draft), touchedBy: next });
  }
  commits.push(next);
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

/** Returns the text of a prompt file, with its digest, for a text of the model. */
export function digestWritten(type: PromptType, text: string): DigestedText {
  return digestBody(type, makeBody(type, text));
}

function toFile(id: string, { description, metadata, text, ...draft }: Draft): PromptFile {
  const content = makeContent(digestWritten(draft.type, text), metadata ?? undefined);
  return { ...file({ ...draft, ...(description !== null && { description }) }), id, content };
}
