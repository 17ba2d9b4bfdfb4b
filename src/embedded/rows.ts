import type { SQLOutputValue } from 'node:sqlite';
import type { JsonObject } from '../domain/json.ts';

/** A prompt as it is stored; `activeVersion` is null also when no environment was asked for. */
export type StoredPrompt = {
  readonly id: string;
  readonly projectId: string;
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly latestVersionId: string | null;
  readonly activeVersion: StoredVersion | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
};

export type StoredVersion = {
  readonly id: string;
  readonly promptId: string;
  readonly number: number;
  readonly content: string;
  readonly metadata: JsonObject | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
};

export type Row = Readonly<Record<string, SQLOutputValue>>;

export function parsePromptRow(row: Row, activeVersion: StoredVersion | null): StoredPrompt {
  return {
    id: textOf(row, 'id'),
    projectId: textOf(row, 'project_id'),
    key: textOf(row, 'key'),
    name: textOf(row, 'name'),
    description: optionalTextOf(row, 'description'),
    latestVersionId: optionalTextOf(row, 'latest_version_id'),
    activeVersion,
    createdAt: textOf(row, 'created_at'),
  };
}

export function parseVersionRow(row: Row): StoredVersion {
  return {
    id: textOf(row, 'id'),
    promptId: textOf(row, 'prompt_id'),
    number: numberOf(row, 'version_number'),
    content: textOf(row, 'content'),
    metadata: metadataOf(row),
    createdAt: textOf(row, 'created_at'),
  };
}

export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`The column ${column} holds no text.`);
  return value;
}

function optionalTextOf(row: Row, column: string): string | null {
  return row[column] === null ? null : textOf(row, column);
}

function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`The column ${column} holds no number.`);
  return value;
}

/** The store alone writes this column, and always a JSON object. */
function metadataOf(row: Row): JsonObject | null {
  const text = optionalTextOf(row, 'metadata');
  return text === null ? null : JSON.parse(text);
}
