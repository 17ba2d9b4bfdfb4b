import { RESERVED_KEY } from '../../src/domain/digest.ts';
import { canonicalJson, withoutKey, type JsonObject } from '../../src/domain/json.ts';
import type { StoredVersion } from '../../src/embedded/store.ts';
import type { Wanted } from './state.ts';

/** A content in one line: its text, and its metadata without the tool's own key. */
export function contentText(content: string, metadata: JsonObject | null): string {
  return `${JSON.stringify(content)} ${canonicalJson(withoutKey(metadata ?? {}, RESERVED_KEY))}`;
}

export function servedText(promptId: string, environment: string, version: StoredVersion | null): string {
  const content = version === null ? 'nothing' : contentText(version.content, version.metadata_);
  return `${promptId} ${environment}: ${content}`;
}

export function wantedText({ promptId, environment, text, metadata }: Wanted): string {
  return `${promptId} ${environment}: ${contentText(text, { ...metadata })}`;
}
