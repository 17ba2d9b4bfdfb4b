import { createHash } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import { parsePromptRow, parseVersionRow, textOf, type StoredPrompt, type StoredVersion } from './rows.ts';
import type { Statements } from './statements.ts';

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

/** What the queries work with: statements of an open transaction, the clock as ISO 8601, and ids for versions. */
export type Context = {
  readonly statements: Statements;
  readonly timestamp: () => string;
  readonly newId: () => string;
};

export function insertGrant({ statements }: Context, { apiKey, projectId }: Grant): void {
  statements.insertProject.run(projectId);
  statements.insertKey.run(hashOf(apiKey), projectId);
}

export function selectProjects({ statements }: Context, apiKey: string): readonly string[] {
  return statements.selectProjects.all(hashOf(apiKey)).map((row) => textOf(row, 'project_id'));
}

export function insertPrompt({ statements, timestamp }: Context, prompt: NewPrompt): boolean {
  const { id, projectId, key, name, description = null } = prompt;
  statements.insertProject.run(projectId);
  return statements.insertPrompt.run(id, projectId, key, name, description, timestamp()).changes === 1;
}

export function selectPrompt({ statements }: Context, promptId: string, environment?: string): StoredPrompt | null {
  const row = statements.selectPrompt.get(promptId);
  if (row === undefined) return null;
  const active = environment === undefined ? undefined : statements.selectActive.get(promptId, environment);
  return parsePromptRow(row, active === undefined ? null : parseVersionRow(active));
}

export function insertVersion(context: Context, promptId: string, draft: VersionDraft): StoredVersion | null {
  const { content, changeSummary = null, metadata } = draft;
  const metadataText = metadata === undefined ? null : JSON.stringify(metadata);
  const values = [context.newId(), content, changeSummary, metadataText, context.timestamp(), promptId];
  const row = context.statements.insertVersion.get(...values);
  return row === undefined ? null : parseVersionRow(row);
}

export function updateFields(context: Context, promptId: string, changes: FieldChanges): StoredPrompt | null {
  const { key = null, name = null, description = null } = changes;
  context.statements.updatePrompt.run(key, name, description, promptId);
  return selectPrompt(context, promptId);
}

export function upsertActive(
  { statements }: Context,
  promptId: string,
  { environment, versionId }: Activation,
): boolean {
  return statements.upsertActive.run(environment, promptId, versionId).changes === 1;
}

/** Only a hash is stored: a database file that gets about gives no key away. */
function hashOf(apiKey: string): string {
  return createHash('sha256').update(apiKey, 'utf8').digest('hex');
}
