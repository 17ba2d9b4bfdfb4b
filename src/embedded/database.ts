import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** How long to wait for the write of another process. */
const BUSY_TIMEOUT_MS = 10_000;
const BUSY_PAUSE_MS = 20;
const SQLITE_BUSY = 5;

/**
 * The tables of the service. Triggers keep versions immutable, even if this program has a bug.
 *
 * SQLite keeps the text of each statement, and `refuseForeign` compares it. Any change here, even of a space, therefore
 * refuses the databases that earlier releases made.
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
 * Opens the database of the service. Creates its folder and its tables if they are missing. `:memory:` is a database that
 * ends with the process. Throws if the file is not a SQLite database, has another schema, or cannot be written.
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    switchToWal(database, path);
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;`);
    inTransaction(database, 'IMMEDIATE', () => database.exec(SCHEMA));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Runs work in a transaction. `IMMEDIATE` takes the write lock first, so that no other process can change what the work
 * has read before it writes. `DEFERRED` gives one consistent view for reading. The work must be synchronous.
 */
export function inTransaction<Made>(database: DatabaseSync, kind: 'IMMEDIATE' | 'DEFERRED', work: () => Made): Made {
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
 * Switches the database to write-ahead logging. If two processes switch a new file at the same moment, SQLite fails one
 * of them at once, whatever its busy timeout, because each would wait for the other. So this function retries.
 */
function switchToWal(database: DatabaseSync, path: string): void {
  for (let waited = 0; ; waited += BUSY_PAUSE_MS) {
    try {
      refuseForeign(database, path);
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

/**
 * Throws unless the schema of the database is exactly the one that `SCHEMA` makes. A branch may contain the file: a
 * trigger or a view in it would run inside SQLite, where nothing can interrupt it. A database without any table is
 * accepted, because its process may have been killed before it made the tables.
 */
function refuseForeign(database: DatabaseSync, path: string): void {
  database.exec('PRAGMA trusted_schema = OFF');
  const expected = readOwnSchema();
  const found = readSchema(database, expected.length + 1);
  const isOwn = found.length === expected.length && found.every((entry, index) => entry === expected[index]);
  if (found.length > 0 && !isOwn) throw new Error(`the tables in ${path} are not those of the embedded service`);
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

/** Returns each table, index, trigger and view as a line of JSON, sorted, and at most `limit` of them. */
function readSchema(database: DatabaseSync, limit: number): readonly string[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT ?').all(limit);
  return rows.map(({ type, name, tbl_name, sql }) => JSON.stringify([type, name, tbl_name, sql])).toSorted();
}

/** Whether another process holds the lock. The low byte of SQLite's extended codes is the kind of error. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return false;
  return (error.errcode & 0xff) === SQLITE_BUSY;
}
