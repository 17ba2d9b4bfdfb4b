import type { Bench } from './bench.ts';

/** What one run of something took. */
export type Sample = {
  /** Wall time. */
  readonly milliseconds: number;
  /** Processor time of the process, user and system, in milliseconds. */
  readonly cpu?: number;
  /** Peak resident memory of the process, in MB (10^6 bytes). */
  readonly peak?: number;
  readonly requests?: number;
};

export type Figure = keyof Sample;

/** One thing to be measured. */
export type Subject = {
  readonly run: () => Promise<Sample>;
  /** At most so many rounds, where one takes long. */
  readonly rounds?: number;
};

/** By the name that the table shows; the first is what the others are compared with. */
export type Subjects = Readonly<Record<string, Subject>>;

/** What has to be shown: the median of one subject's figure, over that of another where `to` names one. */
export type Target = {
  readonly shows: string;
  readonly of: string;
  readonly to?: string;
  readonly figure: Figure;
  readonly atMost: number;
};

export type Case = {
  readonly title: string;
  readonly rounds: number;
  /** Too long for every day: measured with `--all` alone. */
  readonly long?: true;
  readonly targets?: readonly Target[];
  /** Makes what is needed, untimed. A text says why it cannot be measured here. */
  readonly prepare: (bench: Bench) => Promise<Subjects | string>;
};

export type Group = { readonly name: string; readonly about: string; readonly cases: readonly Case[] };
