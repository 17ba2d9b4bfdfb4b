import { createHash, randomUUID } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { PromptShape, VersionShape, type UpdatePromptShape } from '../providers/four-call/api-shapes.ts';
import { runInTransaction, openDatabase } from './database.ts';

/**
 * The shape of stored metadata, which the store writes as a JSON object. The store does not validate it again. If
 * somebody else wrote the database and the text is not JSON, the call fails.
 */
const metadata = z.string().transform((text): JsonObject => JSON.parse(text));
const VersionRow = VersionShape.required().extend({ metadata_: metadata.nullable() });
const PromptRow = PromptShape.omit({ active_version: true }).required();

/** A version with every field that the service returns. */
export type StoredVersion = z.output<typeof VersionRow>;

/** A prompt. `active_version` is null if no version is active or no environment was requested. */
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

type Activation = { readonly environment: string; readonly versionId: string };

/** The data store of the embedded service. It finds prompts by id across all projects. */
export type Store = {
  /** Allows a key to access one more project. Creates the key and the project if they do not exist. */
  readonly authorizeKey: (access: { readonly apiKey: string; readonly projectId: string }) => void;
  /** Returns the ids of the projects that a key may access. Returns an empty list if the key does not exist. */
  readonly readProjects: (apiKey: string) => readonly string[];
  /** Creates a prompt, for which the interface has no call. Returns false and changes nothing if the id is taken. */
  readonly registerPrompt: (prompt: NewPrompt) => boolean;
  readonly readPrompt: (promptId: string, environment?: string) => StoredPrompt | null;
  /** Creates a version with the next number, starting at 1. Returns null if the prompt does not exist. */
  readonly createVersion: (promptId: string, version: VersionDraft) => StoredVersion | null;
  readonly updatePrompt: (promptId: string, fields: z.infer<typeof UpdatePromptShape>) => StoredPrompt | null;
  /** Activates a version in an environment. Returns false if the prompt has no such version. */
  readonly setActive: (promptId: string, activation: Activation) => boolean;
  /** Returns the number of registered prompts of all projects. */
  readonly countPrompts: () => number;
  /** Closes the database. Callers may not use the store afterward, except to call `close` again. */
  readonly close: () => void;
};

/** The clock, in milliseconds since 1970, and a function that returns a unique id for each version. */
type StoreOptions = { readonly now: () => number; readonly newId?: () => string };

/** Opens the store at a path or `:memory:`. Several processes may open the same file. Throws if it cannot be opened. */
export function openStore(path: string, { now, newId = () => `ver_${randomUUID()}` }: StoreOptions): Store {
  const database = openDatabase(path);
  const statements = prepareStatements(database);
  const timestamp = () => new Date(now()).toISOString();
  const write = <Value>(work: () => Value) => runInTransaction(database, 'IMMEDIATE', work);
  const read = <Value>(work: () => Value) => runInTransaction(database, 'DEFERRED', work);
  return {
    authorizeKey: ({ apiKey, projectId }) =>
      write(() => {
        statements.insertProject.run(projectId);
        statements.insertKey.run(hashApiKey(apiKey), projectId);
      }),
    readProjects: (apiKey) =>
      read(() => statements.selectProjects.all(hashApiKey(apiKey)).map(({ project_id: id }) => String(id))),
    registerPrompt: ({ id, projectId, key, name, description }) =>
      write(() => {
        statements.insertProject.run(projectId);
        return statements.insertPrompt.run(id, projectId, key, name, description ?? null, timestamp()).changes === 1;
      }),
    readPrompt: (promptId, environment) => read(() => selectPrompt(statements, promptId, environment)),
    createVersion: (promptId, { content, changeSummary, metadata }) =>
      write(() => {
        const metadataJson = metadata === undefined ? null : JSON.stringify(metadata);
        return parseVersion(
          statements.insertVersion.get(newId(), content, changeSummary ?? null, metadataJson, timestamp(), promptId),
        );
      }),
    updatePrompt: (promptId, { key, name, description }) =>
      write(() => {
        statements.updatePrompt.run(key ?? null, name ?? null, description ?? null, promptId);
        return selectPrompt(statements, promptId);
      }),
    setActive: (promptId, { environment, versionId }) =>
      write(() => statements.upsertActive.run(environment, promptId, versionId).changes === 1),
    countPrompts: () => read(() => Number(statements.countPrompts.get()?.['count'])),
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

/** Hashes an API key for storage, so that a leaked database file reveals no key. */
function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey, 'utf8').digest('hex');
}

/** Each write to a prompt is a single statement, which changes nothing if the prompt does not exist. */
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

  countPrompts: 'SELECT COUNT(*) AS count FROM prompts',

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
