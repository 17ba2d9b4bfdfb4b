import { isJsonObject, type JsonValue } from '../domain/json.ts';
import { listProperties, type PromptBundle } from './prompt-bundle.ts';

/** How a language writes JSON data. All supported languages use the same brackets, colons and commas. */
export type DataSyntax = {
  readonly formatText: (text: string) => string;
  readonly formatKey: (key: string) => string;
  readonly formatConstant: (value: boolean | null) => string;
  readonly formatItem: (rendered: string, listLength: number) => string;
};

/** An object as a list of its properties. Unlike an object, it keeps integer-like keys such as `10` and `9` in order. */
type Properties = readonly (readonly [key: string, rendered: string])[];

/** Renders the prompts of a bundle as an object, keyed by prompt key, with one property per line. */
export function renderPrompts({ prompts }: PromptBundle, indent: string, syntax: DataSyntax): string {
  const inner = `${indent}  `;
  const entries = prompts.map((prompt): readonly [string, string] => {
    const properties = listProperties(prompt).map(
      ([name, value]) => [name, renderValue(value, `${inner}  `, syntax)] as const,
    );
    return [prompt.key, renderProperties(properties, inner, syntax)];
  });
  return renderProperties(entries, indent, syntax);
}

/** Renders one property per line. `indent` is the white space before the line of the opening bracket. */
export function renderProperties(properties: Properties, indent: string, { formatKey }: DataSyntax): string {
  return renderLines(
    ['{', '}'],
    properties.map(([key, rendered]) => `${formatKey(key)}: ${rendered}`),
    indent,
  );
}

function renderValue(value: JsonValue, indent: string, syntax: DataSyntax): string {
  if (typeof value === 'string') return syntax.formatText(value);
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value === 'boolean' || value === null) return syntax.formatConstant(value);
  const inner = `${indent}  `;
  if (isJsonObject(value)) {
    const properties = Object.entries(value).map(([key, item]) => [key, renderValue(item, inner, syntax)] as const);
    return renderProperties(properties, indent, syntax);
  }
  return renderLines(
    ['[', ']'],
    value.map((item) => syntax.formatItem(renderValue(item, inner, syntax), value.length)),
    indent,
  );
}

function renderLines([open, close]: readonly [string, string], items: readonly string[], indent: string): string {
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${indent}  ${item}`).join(',\n')}\n${indent}${close}`;
}
