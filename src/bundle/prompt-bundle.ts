import type { ChatMessage } from '../domain/chat.ts';
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
  /** The number of the version. Null if the number is not known. */
  readonly version: number | null;
  /** The metadata of the version. Null if the prompt comes from a file that does not manage metadata. */
  readonly config: JsonValue;
};

/** Makes a bundle of prompts in any order. */
export function makeBundle(environment: string, prompts: readonly BundledPrompt[]): PromptBundle {
  // The operator `<` compares UTF-16 code units, unlike `localeCompare`, whose order depends on the machine.
  return { environment, prompts: prompts.toSorted((a, b) => (a.key < b.key ? -1 : 1)) };
}

/** The values that an application must supply to a prompt. Both lists are in the order of the first appearance. */
export type PromptInputs = { readonly variables: readonly string[]; readonly placeholders: readonly string[] };

/** Lists the variables and the placeholders of a prompt, without duplicates. */
export function listInputs(body: PromptBody): PromptInputs {
  if (body.type === 'text') return { variables: listVariables({ type: 'text', text: body.prompt }), placeholders: [] };
  const contents = body.prompt.map((message) => ('role' in message ? message.content : ''));
  return {
    // A variable never contains a line break, so the break between two contents cannot become part of one.
    variables: listVariables({ type: 'text', text: contents.join('\n') }),
    placeholders: [...new Set(body.prompt.flatMap(getPlaceholderName))],
  };
}

function getPlaceholderName(message: ChatMessage): readonly string[] {
  return 'role' in message ? [] : [message.name];
}

/** Lists the properties of a prompt in a bundle, in the order in which all formats write them. */
export function listProperties(prompt: BundledPrompt): readonly (readonly [name: string, value: JsonValue])[] {
  const { id, version, type, config } = prompt;
  const { variables, placeholders } = listInputs(prompt);
  return [
    ['id', id],
    ['version', version],
    ['type', type],
    ['prompt', prompt.prompt],
    ['config', config],
    ['variables', variables],
    ['placeholders', placeholders],
  ];
}
