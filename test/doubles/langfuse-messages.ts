import { isDeepStrictEqual } from 'node:util';
import { type ChatMessage, type PromptType, renderChatText } from '../../src/domain/chat.ts';
import type { StoredContent } from '../../src/domain/content.ts';
import { makePromptBody } from '../../src/domain/served-prompt.ts';
import type { LangfuseEditedPrompt, LangfuseVersion } from './langfuse-store.ts';

// The model and the fault tests use the same texts for both types of prompts. Each text stands for the messages of one
// chat prompt, and different texts stand for different messages.

/** Everything that is special in the written form of a chat prompt. */
const SPECIAL_MESSAGES: readonly ChatMessage[] = [
  placeholder('history'),
  { role: 'assistant', content: '' },
  placeholder('history'),
  {
    role: 'user',
    content: '{{role "user"}}\n\n \\{{placeholder "history"}}\n{{role user}}\n{{ history }} {{question}}',
  },
  { role: 'Tool "x"', content: '\n\nCafe\u0301' },
];

/**
 * Returns the messages that a text stands for. The texts A, B, C and E of the model differ from each other only by a
 * placeholder, by the name of a placeholder or by a role. The texts "One …" and "Two …" of the fault tests differ by
 * several messages and placeholders.
 */
export function makeMessages(text: string): readonly ChatMessage[] {
  const rest = text.slice(1);
  switch (text[0]) {
    case 'A':
      return [{ role: 'system', content: rest }];
    case 'B':
      return [{ role: 'system', content: rest }, placeholder('history')];
    case 'C':
      return [{ role: 'system', content: rest }, placeholder('example')];
    case 'E':
      return [{ role: 'user', content: rest }];
    case 'O':
      return [{ role: 'system', content: text }];
    default:
      return [{ role: 'system', content: text }, ...SPECIAL_MESSAGES];
  }
}

function placeholder(name: string): ChatMessage {
  return { type: 'placeholder', name };
}

/** Returns the text that a prompt stands for. Returns null for messages that no text stands for. */
export function findText(prompt: LangfuseVersion['prompt']): string | null {
  if (typeof prompt === 'string') return prompt;
  const [first] = prompt;
  if (first === undefined || !('role' in first)) return null;
  const texts = ['', 'A', 'B', 'C', 'E'].map((letter) => letter + first.content);
  return texts.find((text) => isDeepStrictEqual(makeMessages(text), prompt)) ?? null;
}

/** Returns the text that a content stands for. If there is none, returns the text of the content itself. */
export function findWrittenText(content: StoredContent): string {
  return findText(makePromptBody(content).prompt) ?? content.text;
}

/** Returns the body of a prompt file for a text. */
export function makeBody(type: PromptType, text: string): string {
  return type === 'text' ? text : renderChatText(makeMessages(text));
}

/** Returns the input for a version that stands for a text. */
export function makeEditedPrompt(type: PromptType, text: string): LangfuseEditedPrompt {
  return type === 'text' ? { text } : { messages: makeMessages(text) };
}
