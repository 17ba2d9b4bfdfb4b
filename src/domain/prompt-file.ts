import type { Place } from '../problem.ts';
import type { PromptType } from './chat.ts';
import type { Content } from './content.ts';

/** The version that should be active in an environment, as declared in a prompt file. */
export type Pin =
  | { readonly kind: 'latest' }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'version'; readonly id: string }
  | { readonly kind: 'git'; readonly ref: string };

/** A pin with its environment and its position. Line and column numbers start at 1. */
export type EnvironmentPin = {
  readonly environment: string;
  readonly pin: Pin;
  /** The path of the configuration file, if the pin is a default pin. Absent for a pin in the prompt file itself. */
  readonly path?: string;
  readonly line: number;
  readonly column: number;
};

/** A prompt, as declared in its Markdown file. If an optional field is absent, promptsync does not manage it. */
export type PromptFile = {
  /** The path of the file, relative to the folder of the configuration file, with forward slashes. */
  readonly path: string;
  readonly id: string;
  /** Present if the front matter has no id, so that the id comes from the path of the file. */
  readonly idSource?: 'path';
  readonly key: string;
  readonly name: string;
  /** The same as the type of the content. */
  readonly type: PromptType;
  readonly description?: string;
  /** The pins of the file, or the default pins of the configuration if the file has no field `pins`. */
  readonly pins: readonly EnvironmentPin[];
  /** The pins of environments that another configuration manages. Absent if there are no such environments. */
  readonly otherPins?: readonly EnvironmentPin[];
  readonly variables?: readonly string[];
  /** The codes of the warnings that reports omit for this file. */
  readonly acceptWarnings?: readonly string[];
  readonly content: Content;
};

/** Returns true if a prompt takes its id or a pin from the configuration, so that an edit there can change it. */
export function dependsOnConfig({ idSource, pins }: PromptFile): boolean {
  return idSource === 'path' || pins.some(({ path }) => path !== undefined);
}

/** The id in a new prompt file if the user must create the prompt in the service first. */
export const PLACEHOLDER_ID = 'replace_me';

/** The properties that identify a prompt in a report. The file may not exist, as in a dry run of `import`. */
export type PromptIdentity = Pick<PromptFile, 'path' | 'id' | 'idSource' | 'key'>;

/** The type is null if `import` could not read the prompt. */
export type TypedPromptIdentity = PromptIdentity & { readonly type: PromptType | null };

export function getIdentity({
  path,
  id,
  idSource,
  key,
  type,
}: PromptFile): PromptIdentity & { readonly type: PromptType } {
  return { path, id, ...(idSource !== undefined && { idSource }), key, type };
}

/** Formats a pin as it appears in prompt files, such as `latest`, `3` or `git:main`. */
export function formatPin(pin: Pin): string {
  if (pin.kind === 'version') return `version:${pin.id}`;
  if (pin.kind === 'git') return `git:${pin.ref}`;
  return pin.kind === 'number' ? String(pin.number) : pin.kind;
}

export function findPin(pins: readonly EnvironmentPin[], environment: string): EnvironmentPin | undefined {
  return pins.find((pin) => pin.environment === environment);
}

/** A default pin is in the configuration file. */
export function locatePin(
  { path, line, column }: Pick<EnvironmentPin, 'path' | 'line' | 'column'>,
  file: Pick<PromptFile, 'path'>,
): Required<Place> {
  return { path: path ?? file.path, line, column };
}

/** Returns the place of an environment's pin, or the place of the file if it does not pin the environment. */
export function locateEnvironment(environment: string, file: Pick<PromptFile, 'path' | 'pins'>): Place {
  const pin = findPin(file.pins, environment);
  return pin === undefined ? { path: file.path } : locatePin(pin, file);
}

/**
 * Returns true if the service must store the file's text even if no pin refers to it. If other configurations use the
 * file, too, the service stores the text only if one of its own environments follows it.
 */
export function mustStoreText({ pins, otherPins }: Pick<PromptFile, 'pins' | 'otherPins'>): boolean {
  return otherPins === undefined || followsLatest({ pins });
}

/** Returns true if the file pins at least one environment to `latest`, which refers to the file's own content. */
export function followsLatest({ pins }: Pick<PromptFile, 'pins'>): boolean {
  return pins.some(({ pin }) => pin.kind === 'latest');
}
