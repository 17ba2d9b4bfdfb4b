import { headOf } from './front-matter.ts';

/**
 * The source of a valid file with another text; its front matter stays as it is, byte for byte. What is written is
 * parsed back as the very same text, provided that it holds no carriage return.
 */
export function withText(source: string, text: string): string {
  return `${headOf(source)}\n\n${text}\n`;
}
