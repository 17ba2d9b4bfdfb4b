import { canonicalJson, isJsonObject, withoutKey, type JsonValue } from '../domain/json.ts';
import type { Replacement } from '../domain/replacement.ts';
import { findTarget, type Target } from './find-target.ts';
import { insertEntry } from './insert-entry.ts';
import { removeFlowEntry } from './remove-flow-entry.ts';
import { replaceValue } from './replace-value.ts';
import { beginsLine, linesOf, startOf } from './spans.ts';
import { toJson } from './to-json.ts';

/** One change of a mapping. A path names keys from the outermost inwards; what is no mapping on its way gives way. */
export type YamlEdit =
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: JsonValue }
  | { readonly kind: 'remove'; readonly path: readonly string[] };

/**
 * What to replace in the source of a strict YAML mapping so that it holds an edit. All other characters stay; without
 * an effect there is nothing to replace.
 * @param text whole lines: it ends with a line feed
 */
export function editYaml(text: string, edit: YamlEdit): readonly Replacement[] {
  const target = findTarget(text, edit.path);
  if (target === null) return [];
  return edit.kind === 'set' ? setValue(text, target, edit.value) : removeEntry(text, target, edit.path);
}

function setValue(text: string, target: Target, value: JsonValue): readonly Replacement[] {
  const whole = target.rest.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
  if (target.pair === undefined) return [insertEntry(text, target, whole)];
  const same = canonicalJson(jsonOf(target.pair.value)) === canonicalJson(whole);
  return same ? [] : replaceValue(text, target.map, target.pair, whole);
}

function removeEntry(text: string, { map, pair, rest, key }: Target, path: readonly string[]): readonly Replacement[] {
  if (pair === undefined || rest.length > 0) return [];
  if (map.flow === true) return removeFlowEntry(text, map, pair);
  const above = path.slice(0, -1);
  const hasOwnLines = beginsLine(text, startOf(pair)) && map.items.length > 1;
  if (hasOwnLines || above.length === 0) return [{ ...linesOf(text, pair), text: '' }];
  const whole = jsonOf(map);
  return editYaml(text, { kind: 'set', path: above, value: isJsonObject(whole) ? withoutKey(whole, key) : whole });
}

function jsonOf(node: unknown): JsonValue {
  return toJson(node, () => ({})).value;
}
