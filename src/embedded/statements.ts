import type { DatabaseSync, StatementSync } from 'node:sqlite';

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

export type Statements = Readonly<Record<keyof typeof sql, StatementSync>>;

export function prepareStatements(database: DatabaseSync): Statements {
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
