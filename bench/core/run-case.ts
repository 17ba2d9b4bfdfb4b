import type { Bench } from './bench.ts';
import type { Case, Figure, Sample, Subjects, Target } from './case.ts';

/** Medians of one subject. */
export type Row = Sample & { readonly name: string; readonly rounds: number };

export type Finding = Target & {
  readonly value: number;
  /** Of the same two; null where it is not known. */
  readonly cpuRatio: number | null;
  readonly met: boolean;
};

export type Result = {
  readonly title: string;
  /** The first is what the others are compared with. */
  readonly rows: readonly Row[];
  readonly findings: readonly Finding[];
  /** Why nothing was measured; null where it was. */
  readonly skipped: string | null;
};

/** Measures one case, in so many rounds at most. */
export async function runCase(one: Case, mostRounds: number, bench: Bench): Promise<Result> {
  const subjects = await one.prepare(bench);
  if (typeof subjects === 'string') return skip(one, subjects);
  const samples = await measure(subjects, Math.min(one.rounds, mostRounds));
  const rows = Object.keys(subjects).map((name) => medians(name, samples.get(name) ?? []));
  return { title: one.title, rows, findings: (one.targets ?? []).map((target) => judge(target, rows)), skipped: null };
}

export function skip({ title }: Case, skipped: string): Result {
  return { title, rows: [], findings: [], skipped };
}

/** Rounds are interleaved, so that whatever else the machine does falls on all alike. */
async function measure(subjects: Subjects, rounds: number): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map(Object.keys(subjects).map((name): [string, Sample[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, subject] of Object.entries(subjects)) {
      if (round < (subject.rounds ?? rounds)) samples.get(name)?.push(await subject.run());
    }
  }
  return samples;
}

function medians(name: string, samples: readonly Sample[]): Row {
  const figures: readonly Figure[] = ['milliseconds', 'cpu', 'peak', 'requests'];
  const known = figures.flatMap((figure) => {
    const values = samples.flatMap((sample) => sample[figure] ?? []);
    return values.length === 0 ? [] : [[figure, median(values)]];
  });
  return { milliseconds: Number.NaN, ...Object.fromEntries(known), name, rounds: samples.length };
}

function judge(target: Target, rows: readonly Row[]): Finding {
  const over = (figure: Figure): number => {
    const figureOf = (name: string) => rows.find((row) => row.name === name)?.[figure] ?? Number.NaN;
    return figureOf(target.of) / (target.to === undefined ? 1 : figureOf(target.to));
  };
  const [value, cpuRatio] = [over(target.figure), over('cpu')];
  return { ...target, value, cpuRatio: Number.isNaN(cpuRatio) ? null : cpuRatio, met: value <= target.atMost };
}

/** Of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return middle.reduce<number>((sum, value) => sum + (value ?? Number.NaN) / 2, 0);
}
