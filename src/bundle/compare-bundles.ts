import { isJsonObject } from '../domain/json.ts';

/** A key that only one of two bundles has, or whose prompt differs between them. */
type BundleDifference = { readonly kind: 'added' | 'changed' | 'removed'; readonly key: string };

/** Lists the differences, sorted by key. Ignores layout and environment. Empty if `before` is not a bundle. */
export function compareJsonBundles(before: string, after: string): readonly BundleDifference[] {
  const [oldPrompts, newPrompts] = [parsePrompts(before), parsePrompts(after)];
  if (oldPrompts === null || newPrompts === null) return [];
  const keys = [...new Set([...oldPrompts.keys(), ...newPrompts.keys()])].toSorted();
  return keys.flatMap((key): readonly BundleDifference[] => {
    const [before, after] = [oldPrompts.get(key), newPrompts.get(key)];
    if (before === after) return [];
    if (before === undefined) return [{ kind: 'added', key }];
    return [{ kind: after === undefined ? 'removed' : 'changed', key }];
  });
}

/** Returns the prompts of a JSON bundle as JSON, by key. Returns null if the text is not a JSON bundle. */
function parsePrompts(json: string): ReadonlyMap<string, string> | null {
  try {
    const value: unknown = JSON.parse(json);
    const prompts = isJsonObject(value) ? value['prompts'] : null;
    if (!isJsonObject(prompts)) return null;
    return new Map(Object.entries(prompts).map(([key, prompt]) => [key, JSON.stringify(prompt)]));
  } catch {
    // The text is not JSON, or it is nested too deeply for `JSON.stringify`.
    return null;
  }
}
