import type { Content, Pin } from './prompt-file.ts';

/** How an environment was pinned at an earlier commit. */
export type FormerPin = {
  readonly commit: string;
  /** How many states of the file are newer. */
  readonly age: number;
  readonly pin: Pin;
  /** What `latest` or a ref meant then; null where it is not known, and for numbers and ids. */
  readonly content: Content | null;
};

/** By environment, newest first. */
export type FormerPins = ReadonlyMap<string, readonly FormerPin[]>;
