import { createHash, randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { JsonObject } from '../domain/json.ts';
import { inTransaction, openDatabase } from './database.ts';
import { parsePromptRow, parseVersionRow, textOf, type StoredPrompt, type StoredVersion } from './rows.ts';

export type Grant = { readonly apiKey: string; readonly projectId: string };

export type NewPrompt = {
  readonly id: string;
  readonly projectId: string;
  readonly key: string;
  readonly name: string;
  readonly description?: string | undefined;
};

export type VersionDraft = {
  readonly content: string;
  readonly changeSummary?: string | undefined;
  readonly metadata?: JsonObject | undefined;
};

/** Absent fields stay as they are. */
export type FieldChanges = {
  readonly key?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
};

export type Activation = { readonly environment: string; readonly versionId: string };

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
    authoriseKey: (grant) => write(() => insertGrant(context, grant)),
    readProjects: (apiKey) => read(() => selectProjects(context, apiKey)),
    registerPrompt: (prompt) => write(() => insertPrompt(context, prompt)),
    readPrompt: (promptId, environment) => read(() => selectPrompt(context, promptId, environment)),
    createVersion: (promptId, draft) => write(() => insertVersion(context, promptId, draft)),
    updatePrompt: (promptId, changes) => write(() => updateFields(context, promptId, changes)),
    setActive: (promptId, activation) => write(() => upsertActive(context, promptId, activation)),
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

function makeVersionId(): string {
  return `ver_${randomUUID()}`;
}

/** What the queries work with: statements of an open transaction, the clock as ISO 8601, and ids for versions. */
type Context = {
  readonly statements: Statements;
  readonly timestamp: () => string;
  readonly newId: () => string;
};

function insertGrant({ statements }: Context, { apiKey, projectId }: Grant): void {
  statements.insertProject.run(projectId);
  statements.insertKey.run(hashOf(apiKey), projectId);
}

function selectProjects({ statements }: Context, apiKey: string): readonly string[] {
  return statements.selectProjects.all(hashOf(apiKey)).map((row) => textOf(row, 'project_id'));
}

function insertPrompt({ statements, timestamp }: Context, prompt: NewPrompt): boolean {
  const { id, projectId, key, name, description = null } = prompt;
  statements.insertProject.run(projectId);
  return statements.insertPrompt.run(id, projectId, key, name, description, timestamp()).changes === 1;
}

function selectPrompt({ statements }: Context, promptId: string, environment?: string): StoredPrompt | null {
  const row = statements.selectPrompt.get(promptId);
  if (row === undefined) return null;
  const active = environment === undefined ? undefined : statements.selectActive.get(promptId, environment);
  return parsePromptRow(row, active === undefined ? null : parseVersionRow(active));
}

function insertVersion(context: Context, promptId: string, draft: VersionDraft): StoredVersion | null {
  const { content, changeSummary = null, metadata } = draft;
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata);
  const values = [context.newId(), content, changeSummary, metadataText, context.timestamp(), promptId];
  const row = context.statements.insertVersion.get(...values);
  return row === undefined ? null : parseVersionRow(row);
}

function updateFields(context: Context, promptId: string, changes: FieldChanges): StoredPrompt | null {
  const { key = null, name = null, description = null } = changes;
  context.statements.updatePrompt.run(key, name, description, promptId);
  return selectPrompt(context, promptId);
}

function upsertActive({ statements }: Context, promptId: string, { environment, versionId }: Activation): boolean {
  return statements.upsertActive.run(environment, promptId, versionId).changes === 1;
}

/** Only a hash is stored: a database file that gets about gives no key away. */
function hashOf(apiKey: string): string {
  return createHash('sha256').update(apiKey, 'utf8').digest('hex');
}

/** Every statement that the store uses. Each write is one statement that finds its own prompt, or changes nothing. */
const sql = {
  insertProject: 'INSERT INTO projects (id) VALUES (?) ON CONFLICT DO NOTHING',

  insertKey: 'INSERT INTO api_keys (key_sha256, project_id) VALUES (?, ?) ON CONFLICT DO NOTHING',

  selectProjects: 'SELECT project_id FROM api_keys WHERE key_sha256 = ? ORDER BY project_id',

  insertPrompt: `
    INSERT INTO prompts (id, project_id, key, name, description, created_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,

  selectPrompt: `
    SELECT p.*, (
      SELECT v.id FROM versions v WHERE v.prompt_id = p.id ORDER BY v.version_number DESC LIMIT 1
    ) AS latest_version_id
    FROM prompts p WHERE p.id = ?`,

  selectActive: `
    SELECT v.* FROM active_versions a JOIN versions v ON v.id = a.version_id
    WHERE a.prompt_id = ? AND a.environment = ?`,

  insertVersion: `
    INSERT INTO versions (id, content, change_summary, metadata, created_at, prompt_id, version_number)
    SELECT ?, ?, ?, ?, ?, p.id, 1 + COALESCE(
      (SELECT MAX(v.version_number) FROM versions v WHERE v.prompt_id = p.id), 0)
    FROM prompts p WHERE p.id = ? RETURNING *`,

  updatePrompt: `
    UPDATE prompts SET key = COALESCE(?, key), name = COALESCE(?, name), description = COALESCE(?, description)
    WHERE id = ?`,

  upsertActive: `
    INSERT INTO active_versions (environment, prompt_id, version_id)
    SELECT ?, v.prompt_id, v.id FROM versions v WHERE v.prompt_id = ? AND v.id = ?
    ON CONFLICT (prompt_id, environment) DO UPDATE SET version_id = excluded.version_id`,
} as const;

type Statements = Readonly<Record<keyof typeof sql, StatementSync>>;

function prepareStatements(database: DatabaseSync): Statements {
  return {
    insertProject: database.prepare(sql.insertProject),
    insertKey: database.prepare(sql.insertKey),
    selectProjects: database.prepare(sql.selectProjects),
    insertPrompt: database.prepare(sql.insertPrompt),
    selectPrompt: database.prepare(sql.selectPrompt),
    selectActive: database.prepare(sql.selectActive),
    insertVersion: database.prepare(sql.insertVersion),
    updatePrompt: database.prepare(sql.updatePrompt),
    upsertActive: database.prepare(sql.upsertActive),
  };
}
