import { lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { digestOf, shortDigest } from '../../domain/digest.ts';
import { canonicalJson, isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { CompletePrompt, SyncRecord } from '../../domain/sync-record.ts';
import { readBytes, replaceFile } from '../../files/read-write.ts';
import type { Repository } from '../../git/repository.ts';

/** The record of one configuration's syncs with its services, or of one shard of them, in the folder of git itself. */
export type RecordFile = {
  readonly path: string;
  /** The record as it stands, whatever the configuration was then; null where there is none that can be read. */
  readonly read: () => Promise<SyncRecord | null>;
  /** Throws the system's error. */
  readonly write: (record: SyncRecord) => Promise<void>;
  /** Those of other shards and configurations: prompts of this one may be in them. */
  readonly others: () => Promise<readonly RecordFile[]>;
};

/** In bytes, of a record: as much as some hundred thousand prompts need. */
const LARGEST_RECORD = 64 * 1024 * 1024;

const RecordShape = z.object({
  version: z.literal(1),
  commit: z.string(),
  config: z.templateLiteral(['sha256:', z.string()]),
  // A schema for each of thousands would take longer than all that it saves.
  complete: z.custom<readonly CompletePrompt[]>((value) => Array.isArray(value) && value.every(isCompletePrompt)),
});

function isCompletePrompt(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { path, id, key, refs = {} } = value;
  const named = [path, id, key].every((text) => typeof text === 'string');
  return named && isJsonObject(refs) && Object.values(refs).every((commit) => typeof commit === 'string');
}

/**
 * Where the record is kept. It lies in git's own folder: no commit and no cleaning of the work tree touches it, and
 * continuous integration can keep `.git/promptsync` from one run to the next.
 */
export function recordFileOf(config: Config, { commonDir, fromRoot }: Repository, shard: string | null): RecordFile {
  const { services, trackingEnvironment } = config;
  const file = fromRoot(basename(config.file));
  const located = [...services].map(([name, service]) => [name, { ...service }] as const);
  const about = { file, services: Object.fromEntries(located), trackingEnvironment, shard };
  return recordFileAt(join(commonDir, 'promptsync', `${shortDigest(digestOf(canonicalJson(about)))}.json`));
}

function recordFileAt(path: string): RecordFile {
  const folder = dirname(path);
  return {
    path,
    read: async () => parseRecord(textAt(path)),
    write: async (record) => {
      await mkdir(folder, { recursive: true });
      const before = await lstat(path).catch(() => null);
      if (before?.isFile() === false) throw new Error('it is not a regular file');
      await replaceFile(path, `${JSON.stringify({ version: 1, ...record })}\n`);
    },
    others: async () => {
      const all = await readdir(folder).catch((): string[] => []);
      const others = all.filter((name) => name.endsWith('.json') && name !== basename(path));
      return others.map((name) => recordFileAt(join(folder, name)));
    },
  };
}

/** Nothing is waited for: a pipe or a device may stand in its place. */
function textAt(path: string): string {
  try {
    const bytes = readBytes(path, LARGEST_RECORD);
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('utf8') : '';
  } catch {
    return '';
  }
}

/** What cannot be read counts as no record: then every prompt is looked at. */
function parseRecord(text: string): SyncRecord | null {
  try {
    return RecordShape.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
