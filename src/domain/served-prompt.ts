import { type ChatMessage, listMessages } from './chat.ts';
import type { StoredContent } from './content.ts';
import type { JsonValue } from './json.ts';

/** The prompt of a version as services return it to applications: one text, or a list of messages and placeholders. */
export type PromptBody =
  | { readonly type: 'text'; readonly prompt: string }
  | { readonly type: 'chat'; readonly prompt: readonly ChatMessage[] };

/** Converts content from a prompt file to the form in which services return it to applications. */
export function makePromptBody({ type, text }: Pick<StoredContent, 'type' | 'text'>): PromptBody {
  return type === 'text' ? { type, prompt: text } : { type, prompt: listMessages(text) };
}

/**
 * The version that an environment serves, as an application would read it. Its text is not normalized, and the service
 * has already inserted the parts of a composed prompt.
 */
export type ServedPrompt = PromptBody & {
  readonly number: number;
  /** The metadata of the version, without promptsync's version record. `{}` if the version has none. */
  readonly config: JsonValue;
};
