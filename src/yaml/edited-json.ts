import { isJsonObject, withoutKey, type JsonObject, type JsonValue } from '../domain/json.ts';
import type { YamlEdit } from './edit-yaml.ts';

/** What a mapping holds after an edit: what the edited source must be read as. */
export function editJson(object: JsonObject, edit: YamlEdit): JsonObject {
  return edit.kind === 'set' ? withValue(object, edit.path, edit.value) : withoutEntry(object, edit.path);
}

function withValue(object: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  return { ...object, [key]: rest.length === 0 ? value : withValue(objectIn(object, key) ?? {}, rest, value) };
}

function withoutEntry(object: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const inner = objectIn(object, key);
  if (rest.length === 0) return withoutKey(object, key);
  return inner === null ? object : { ...object, [key]: withoutEntry(inner, rest) };
}

function objectIn(object: JsonObject, key: string): JsonObject | null {
  const value = Object.hasOwn(object, key) ? object[key] : null;
  return isJsonObject(value) ? value : null;
}
