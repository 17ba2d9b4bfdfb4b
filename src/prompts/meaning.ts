import { canonicalJson, type JsonObject } from '../domain/json.ts';
import { parseStrictYaml } from '../yaml/strict-yaml.ts';
import { splitFrontMatter } from './front-matter.ts';
import { textOf } from './parse.ts';
import { decodeSource } from './source.ts';

/** What a file says in its two parts, whether or not that is a valid prompt. */
export type Meaning = { readonly frontMatter: JsonObject; readonly text: string };

/** Null when a part of the file cannot be read. */
export function meaningOf(bytes: Uint8Array, path: string): Meaning | null {
  const source = decodeSource(bytes);
  const parts = source === null ? null : splitFrontMatter(source, path).parts;
  if (parts === null) return null;
  const { mapping, problems } = parseStrictYaml(parts.yaml, path);
  return mapping === null || problems.length > 0 ? null : { frontMatter: mapping.value, text: textOf(parts.body) };
}

/** Why a file does not say what it is meant to; null when it does. */
export function misreading(bytes: Uint8Array, path: string, meant: Meaning): string | null {
  const read = meaningOf(bytes, path);
  if (read === null) return 'it could no longer be read';
  if (canonicalJson(read.frontMatter) !== canonicalJson(meant.frontMatter))
    return 'its front matter would say something else';
  return read.text === meant.text ? null : 'its text would be another one';
}
