import type { Content } from './content.ts';

/** What a prompt file says should be active in one environment. */
export type Pin =
  | { readonly kind: 'latest' }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'version'; readonly id: string }
  | { readonly kind: 'git'; readonly ref: string };

/** A pin with the environment that it is for and its place in the file (line and column from 1). */
export type EnvironmentPin = {
  readonly environment: string;
  readonly pin: Pin;
  readonly line: number;
  readonly column: number;
};

/** One prompt as its Markdown file wants it. Optional fields that are absent are not managed. */
export type PromptFile = {
  /** Relative to the folder of the configuration file, with forward slashes. */
  readonly path: string;
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly description?: string;
  readonly pins: readonly EnvironmentPin[];
  readonly variables?: readonly string[];
  /** Codes of warnings that are not shown of this file. */
  readonly acceptWarnings?: readonly string[];
  readonly content: Content;
};

/** What a prompt is known by, where there may be no file of it. */
export type PromptIdentity = Pick<PromptFile, 'path' | 'id' | 'key'>;

export function formatPin(pin: Pin): string {
  if (pin.kind === 'version') return `version:${pin.id}`;
  if (pin.kind === 'git') return `git:${pin.ref}`;
  return pin.kind === 'number' ? String(pin.number) : pin.kind;
}

/** Whether any environment follows the file's own content. */
export function followsLatest({ pins }: Pick<PromptFile, 'pins'>): boolean {
  return pins.some(({ pin }) => pin.kind === 'latest');
}
