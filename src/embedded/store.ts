import { createHash, randomUUID } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { PromptShape, VersionShape, type UpdatePromptShape } from '../service/wire.ts';
import { inTransaction, openDatabase } from './database.ts';

/** The store alone writes the metadata, and always a JSON object. */
const metadata = z.string().transform((text): JsonObject => JSON.parse(text));
const VersionRow = VersionShape.required().extend({ metadata_: metadata.nullable() });
const PromptRow = PromptShape.omit({ active_version: true }).required();

/** A version as the service answers with it, with every field. */
export type StoredVersion = z.output<typeof VersionRow>;

/** As a version is; `active_version` is null also where no environment was asked for. */
export type StoredPrompt = z.output<typeof PromptRow> & { readonly active_version: StoredVersion | null };

type NewPrompt = Pick<StoredPrompt, 'id' | 'key' | 'name'> & {
  readonly projectId: string;
  readonly description?: string;
};

type VersionDraft = {
  readonly content: string;
  readonly changeSummary?: string | undefined;
  readonly metadata?: JsonObject | undefined;
};

/** What the service knows, on SQLite. Prompts are found by id across all projects; null means there is none. */
export type Store = ReturnType<typeof openStore>;

/** `now` is in milliseconds since 1970; `newId` makes the ids of versions, each one once. */
type StoreOptions = { readonly now: () => number; readonly newId?: () => string };

/** Opens the store at a path, or `:memory:`. Several processes may have one file open. Throws when it cannot be opened. */
export function openStore(path: string, { now, newId = () => `ver_${randomUUID()}` }: StoreOptions) {
  const database = openDatabase(path);
  const statements = prepareStatements(database);
  const timestamp = () => new Date(now()).toISOString();
  const write = <Result>(work: () => Result) => inTransaction(database, 'IMMEDIATE', work);
  const read = <Result>(work: () => Result) => inTransaction(database, 'DEFERRED', work);
  return {
    /** Lets the key use the project; both are made known where they are not. A key may have several projects. */
    authoriseKey: ({ apiKey, projectId }: { readonly apiKey: string; readonly projectId: string }) =>
      write(() => {
        statements.insertProject.run(projectId);
        statements.insertKey.run(hashOf(apiKey), projectId);
      }),
    /** The projects that the key authorises; empty for a key that is not known. */
    readProjects: (apiKey: string) =>
      read(() => statements.selectProjects.all(hashOf(apiKey)).map(({ project_id: id }) => String(id))),
    /** The interface creates no prompts, so this stands in for it. False when the id is taken: that prompt stays as it is. */
    registerPrompt: ({ id, projectId, key, name, description }: NewPrompt) =>
      write(() => {
        statements.insertProject.run(projectId);
        return statements.insertPrompt.run(id, projectId, key, name, description ?? null, timestamp()).changes === 1;
      }),
    readPrompt: (promptId: string, environment?: string) => read(() => selectPrompt(statements, promptId, environment)),
    /** The new version's number is one more than the prompt's highest, from 1. */
    createVersion: (promptId: string, { content, changeSummary, metadata }: VersionDraft) =>
      write(() => {
        const [summary, written] = [changeSummary ?? null, metadata === undefined ? null : JSON.stringify(metadata)];
        return parseVersion(statements.insertVersion.get(newId(), content, summary, written, timestamp(), promptId));
      }),
    /** Absent fields stay as they are. */
    updatePrompt: (promptId: string, { key, name, description }: z.infer<typeof UpdatePromptShape>) =>
      write(() => {
        statements.updatePrompt.run(key ?? null, name ?? null, description ?? null, promptId);
        return selectPrompt(statements, promptId);
      }),
    /** False when the prompt has no such version. */
    setActive: (
      promptId: string,
      { environment, versionId }: { readonly environment: string; readonly versionId: string },
    ) => write(() => statements.upsertActive.run(environment, promptId, versionId).changes === 1),
    /** May be called again; nothing else may be called afterwards. */
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

function selectPrompt(statements: Statements, promptId: string, environment?: string): StoredPrompt | null {
  const row = statements.selectPrompt.get(promptId);
  if (row === undefined) return null;
  const active = environment === undefined ? undefined : statements.selectActive.get(promptId, environment);
  return { ...PromptRow.parse(row), active_version: parseVersion(active) };
}

function parseVersion(row: Readonly<Record<string, SQLOutputValue>> | undefined): StoredVersion | null {
  return row === undefined ? null : VersionRow.parse(row);
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
    SELECT v.*, v.metadata AS metadata_ FROM active_versions a JOIN versions v ON v.id = a.version_id
    WHERE a.prompt_id = ? AND a.environment = ?`,

  insertVersion: `
    INSERT INTO versions (id, content, change_summary, metadata, created_at, prompt_id, version_number)
    SELECT ?, ?, ?, ?, ?, p.id, 1 + COALESCE(
      (SELECT MAX(v.version_number) FROM versions v WHERE v.prompt_id = p.id), 0)
    FROM prompts p WHERE p.id = ? RETURNING *, metadata AS metadata_`,

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
  const prepared = Object.entries(sql).map(([name, text]) => [name, database.prepare(text)] as const);
  return Object.fromEntries(prepared) as Statements;
}
