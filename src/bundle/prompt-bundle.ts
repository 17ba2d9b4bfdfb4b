import type { JsonValue } from '../domain/json.ts';
import type { PromptBody } from '../domain/served-prompt.ts';
import { listVariables } from '../domain/text-changes.ts';

/** The prompts that one environment serves, as an application ships them. */
export type PromptBundle = {
  readonly environment: string;
  /** The prompts, sorted by the UTF-16 code units of their keys. */
  readonly prompts: readonly BundledPrompt[];
};

/** One prompt of a bundle. The order of the properties in a file is that of `listProperties`. */
export type BundledPrompt = PromptBody & {
  readonly key: string;
  readonly id: string;
  /** The version number, or null if it is not known. */
  readonly version: number | null;
  /** The metadata of the version. Null if the prompt comes from a file that does not manage metadata. */
  readonly config: JsonValue;
};

export function makeBundle(environment: string, prompts: readonly BundledPrompt[]): PromptBundle {
  // Use the `<` operator, which compares UTF-16 code units. The order of `localeCompare` depends on the machine.
  return { environment, prompts: prompts.toSorted((a, b) => (a.key < b.key ? -1 : 1)) };
}

/** Lists the variables of a prompt, without duplicates and in order of first appearance. */
function listBodyVariables(body: PromptBody): readonly string[] {
  if (body.type === 'text') return listVariables({ type: 'text', text: body.prompt });
  const contents = body.prompt.flatMap((message) => ('role' in message ? [message.content] : []));
  // Joining the messages with line breaks cannot create a new variable, because no variable contains a line break.
  return listVariables({ type: 'text', text: contents.join('\n') });
}

function listBodyPlaceholders(body: PromptBody): readonly string[] {
  if (body.type === 'text') return [];
  return [...new Set(body.prompt.flatMap((message) => ('role' in message ? [] : [message.name])))];
}

/** A value that an application must supply to a prompt. */
type PromptInput = {
  readonly name: string;
  /** `text` for a variable, `messages` for a placeholder, and both if a variable and a placeholder have this name. */
  readonly kinds: readonly PromptInputKind[];
};
export type PromptInputKind = 'text' | 'messages';

/** Lists the values that an application must supply to a prompt: first the variables, then the placeholders. */
export function listInputs(body: PromptBody): readonly PromptInput[] {
  const kindsByName = new Map<string, readonly PromptInputKind[]>();
  for (const name of listBodyVariables(body)) kindsByName.set(name, ['text']);
  for (const name of listBodyPlaceholders(body)) kindsByName.set(name, [...(kindsByName.get(name) ?? []), 'messages']);
  return [...kindsByName].map(([name, kinds]) => ({ name, kinds }));
}

/** Lists the properties of a prompt in a bundle, in the order in which all formats write them. */
export function listProperties(prompt: BundledPrompt): readonly (readonly [name: string, value: JsonValue])[] {
  const { id, version, type, config } = prompt;
  return [
    ['id', id],
    ['version', version],
    ['type', type],
    ['prompt', prompt.prompt],
    ['config', config],
    ['variables', listBodyVariables(prompt)],
    ['placeholders', listBodyPlaceholders(prompt)],
  ];
}
