import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** How long to wait while another process is writing, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;
/** The pause between two attempts to switch to write-ahead logging, in milliseconds. */
const BUSY_PAUSE_MS = 20;
/** SQLite's result code for a database that another connection has locked. */
const SQLITE_BUSY = 5;

/**
 * The tables of the embedded service. Triggers keep versions immutable, even if promptsync has a bug. After any change
 * to this text, promptsync refuses existing databases, because `refuseForeignSchema` compares it.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS projects (id TEXT PRIMARY KEY) STRICT;

  CREATE TABLE IF NOT EXISTS api_keys (
    key_sha256 TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects (id),
    PRIMARY KEY (key_sha256, project_id)
  ) STRICT;

  CREATE TABLE IF NOT EXISTS prompts (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    created_at TEXT NOT NULL
  ) STRICT;

  CREATE TABLE IF NOT EXISTS versions (
    id TEXT PRIMARY KEY,
    prompt_id TEXT NOT NULL REFERENCES prompts (id),
    version_number INTEGER NOT NULL CHECK (version_number >= 1),
    content TEXT NOT NULL,
    change_summary TEXT,
    metadata TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (prompt_id, version_number),
    UNIQUE (prompt_id, id)
  ) STRICT;

  CREATE TRIGGER IF NOT EXISTS versions_never_change BEFORE UPDATE ON versions
    BEGIN SELECT RAISE(ABORT, 'versions are immutable'); END;
  CREATE TRIGGER IF NOT EXISTS versions_never_go BEFORE DELETE ON versions
    BEGIN SELECT RAISE(ABORT, 'versions are immutable'); END;

  CREATE TABLE IF NOT EXISTS active_versions (
    prompt_id TEXT NOT NULL,
    environment TEXT NOT NULL,
    version_id TEXT NOT NULL,
    PRIMARY KEY (prompt_id, environment),
    FOREIGN KEY (prompt_id, version_id) REFERENCES versions (prompt_id, id)
  ) STRICT;
`;

/**
 * Opens a database, and creates its folder and its tables if they do not exist. `:memory:` lasts until the process
 * ends. Throws if the file is not a SQLite database, has a different schema, or cannot be written.
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    switchToWal(database, path);
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;`);
    runInTransaction(database, 'IMMEDIATE', () => database.exec(SCHEMA));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Runs synchronous work. `IMMEDIATE` locks out other writers before any read. `DEFERRED` gives a consistent view. */
export function runInTransaction<Value>(
  database: DatabaseSync,
  kind: 'IMMEDIATE' | 'DEFERRED',
  work: () => Value,
): Value {
  database.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Switches to write-ahead logging. Retries, because SQLite refuses the switch immediately, whatever the busy timeout
 * is, if two processes switch a new file at the same time and would wait for each other.
 */
function switchToWal(database: DatabaseSync, path: string): void {
  for (let waited = 0; ; waited += BUSY_PAUSE_MS) {
    try {
      refuseForeignSchema(database, path);
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

/**
 * Throws if the schema differs from `SCHEMA`. The file may come from an untrusted branch, and nothing can interrupt a
 * trigger or view in it. Accepts a database without tables, because a process may have been killed before it made them.
 */
function refuseForeignSchema(database: DatabaseSync, path: string): void {
  database.exec('PRAGMA trusted_schema = OFF');
  const expected = readOwnSchema();
  const actual = readSchema(database, expected.length + 1);
  const isOwn = actual.length === expected.length && actual.every((entry, index) => entry === expected[index]);
  if (actual.length > 0 && !isOwn) throw new Error(`the tables in ${path} are not those of the embedded service`);
}

function readOwnSchema(): readonly string[] {
  const database = new DatabaseSync(':memory:');
  try {
    database.exec(SCHEMA);
    return readSchema(database, Number.MAX_SAFE_INTEGER);
  } finally {
    database.close();
  }
}

/** Returns the tables, indexes, triggers and views as sorted lines of JSON. Returns at most `limit` lines. */
function readSchema(database: DatabaseSync, limit: number): readonly string[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT ?').all(limit);
  return rows.map(({ type, name, tbl_name, sql }) => JSON.stringify([type, name, tbl_name, sql])).toSorted();
}

/** Compares only the low byte of an extended SQLite result code, which is the primary result code. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return false;
  return (error.errcode & 0xff) === SQLITE_BUSY;
}
