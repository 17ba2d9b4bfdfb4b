import type { WirePrompt, WireVersion } from '../service/wire.ts';
import type { StoredPrompt, StoredVersion } from './rows.ts';

/** The fields that every answer with a prompt has (interface section 2.1). */
export function promptToWire(prompt: StoredPrompt): WirePrompt {
  return {
    id: prompt.id,
    project_id: prompt.projectId,
    key: prompt.key,
    name: prompt.name,
    description: prompt.description,
    latest_version_id: prompt.latestVersionId,
  };
}

/** Interface section 2.2. */
export function versionToWire(version: StoredVersion): WireVersion {
  return {
    id: version.id,
    prompt_id: version.promptId,
    version_number: version.number,
    content: version.content,
    metadata_: version.metadata,
    created_at: version.createdAt,
  };
}
