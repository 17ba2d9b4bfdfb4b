import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** How long to wait for another process's write, in milliseconds. */
const BUSY_TIMEOUT = 10_000;
const BUSY_PAUSE = 20;
const SQLITE_BUSY = 5;

/** Versions are immutable: the triggers hold that even against a mistake in this program. */
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
 * Opens the service's database, with its folder and its tables made where they are missing. `:memory:` is a database
 * that ends with the process. Throws when the file is no SQLite database, is somebody else's, or cannot be written.
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    switchToWal(database);
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;`);
    inTransaction(database, 'IMMEDIATE', () => database.exec(SCHEMA));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * `IMMEDIATE` takes the write lock first, so that what the work reads still holds when it writes, whichever process
 * writes beside it; `DEFERRED` is one consistent view for reading. The work must not wait for anything.
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
 * Of two processes that switch one new file at the same moment SQLite fails one at once, as each would wait for the
 * other, and does so whatever its busy timeout. So the wait is made here.
 */
function switchToWal(database: DatabaseSync): void {
  for (let waited = 0; ; waited += BUSY_PAUSE) {
    try {
      refuseForeign(database);
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_TIMEOUT) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE);
    }
  }
}

/** All tables are made together. A database without any is one that was about to be made when its process was killed. */
function refuseForeign(database: DatabaseSync): void {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  if (tables.length > 0 && !tables.some(({ name }) => name === 'active_versions'))
    throw new Error('it is a database of something else, which is left as it is');
}

/** The low byte of SQLite's extended codes is the kind of error. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return false;
  return (error.errcode & 0xff) === SQLITE_BUSY;
}
