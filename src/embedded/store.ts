import { randomUUID } from 'node:crypto';
import { inTransaction, openDatabase } from './database.ts';
import * as queries from './queries.ts';
import type { Activation, FieldChanges, Grant, NewPrompt, VersionDraft } from './queries.ts';
import type { StoredPrompt, StoredVersion } from './rows.ts';
import { prepareStatements } from './statements.ts';

/** What the service knows, on SQLite. Prompts are found by id across all projects; null means there is none. */
export type Store = {
  /** Lets the key use the project; both are made known where they are not. A key may have several projects. */
  readonly authoriseKey: (grant: Grant) => void;
  /** The projects that the key authorises; empty for a key that is not known. */
  readonly readProjects: (apiKey: string) => readonly string[];
  /** The interface creates no prompts, so this stands in for it. False when the id is taken: that prompt stays as it is. */
  readonly registerPrompt: (prompt: NewPrompt) => boolean;
  readonly readPrompt: (promptId: string, environment?: string) => StoredPrompt | null;
  /** The new version's number is one more than the prompt's highest, from 1. */
  readonly createVersion: (promptId: string, draft: VersionDraft) => StoredVersion | null;
  readonly updatePrompt: (promptId: string, changes: FieldChanges) => StoredPrompt | null;
  /** False when the prompt has no such version. */
  readonly setActive: (promptId: string, activation: Activation) => boolean;
  /** May be called again; nothing else may be called afterwards. */
  readonly close: () => void;
};

/** `now` is in milliseconds since 1970; `newId` makes the ids of versions, each one once. */
export type StoreOptions = { readonly now: () => number; readonly newId?: () => string };

/** Opens the store at a path, or `:memory:`. Several processes may have one file open. Throws when it cannot be opened. */
export function openStore(path: string, { now, newId = makeVersionId }: StoreOptions): Store {
  const database = openDatabase(path);
  const statements = prepareStatements(database);
  const context = { statements, newId, timestamp: () => new Date(now()).toISOString() };
  const write = <Result>(work: () => Result) => inTransaction(database, 'IMMEDIATE', work);
  const read = <Result>(work: () => Result) => inTransaction(database, 'DEFERRED', work);
  return {
    authoriseKey: (grant) => write(() => queries.insertGrant(context, grant)),
    readProjects: (apiKey) => read(() => queries.selectProjects(context, apiKey)),
    registerPrompt: (prompt) => write(() => queries.insertPrompt(context, prompt)),
    readPrompt: (promptId, environment) => read(() => queries.selectPrompt(context, promptId, environment)),
    createVersion: (promptId, draft) => write(() => queries.insertVersion(context, promptId, draft)),
    updatePrompt: (promptId, changes) => write(() => queries.updateFields(context, promptId, changes)),
    setActive: (promptId, activation) => write(() => queries.upsertActive(context, promptId, activation)),
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

function makeVersionId(): string {
  return `ver_${randomUUID()}`;
}
