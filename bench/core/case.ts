import type { Bench } from './bench.ts';
import type { Sample } from './measure.ts';

export type Figure = keyof Sample;

/** A program or function that a case measures. */
export type Subject = {
  readonly run: () => Promise<Sample>;
  /** The maximum number of rounds of a slow subject. */
  readonly rounds?: number;
};

/** The subjects of a case, by their names in the table. The table compares all subjects with the first. */
export type Subjects = Readonly<Record<string, Subject>>;

/**
 * A limit for the median of a figure of one subject. If `to` names another subject, the limit applies to the ratio of
 * the two medians.
 */
export type Target = {
  /** The description of the target in the output. */
  readonly shows: string;
  /** The name of the measured subject. */
  readonly of: string;
  /** The name of the subject to compare with. */
  readonly to?: string;
  readonly figure: Figure;
  readonly atMost: number;
};

export type Case = {
  readonly title: string;
  readonly rounds: number;
  /** Set if the case takes minutes. Such a case runs only with `--all`. */
  readonly long?: true;
  readonly targets?: readonly Target[];
  /** Prepares the subjects before the measurement. Returns a text with the reason if the case cannot run. */
  readonly prepare: (bench: Bench) => Promise<Subjects | string>;
};

export type Group = { readonly name: string; readonly about: string; readonly cases: readonly Case[] };
