import type { Bench } from './bench.ts';
import type { Case, Figure, Subjects, Target } from './case.ts';
import type { Sample } from './measure.ts';

/** The medians of one subject. */
export type Row = Sample & { readonly name: string; readonly rounds: number };

/** A target with its measured value. */
export type Finding = Target & {
  readonly value: number;
  /** The ratio of the CPU times of the two subjects; null if a CPU time is unknown. */
  readonly cpuRatio: number | null;
  readonly met: boolean;
};

export type Result = {
  readonly title: string;
  /** The medians of each subject. The table compares all rows with the first. */
  readonly rows: readonly Row[];
  readonly findings: readonly Finding[];
  /** The reason why the case was not measured; null if it was. */
  readonly skipped: string | null;
};

/** Measures one case in at most `maxRounds` rounds. */
export async function runCase(one: Case, maxRounds: number, bench: Bench): Promise<Result> {
  const subjects = await one.prepare(bench);
  if (typeof subjects === 'string') return skip(one, subjects);
  const samples = await measure(subjects, Math.min(one.rounds, maxRounds));
  const rows = Object.keys(subjects).map((name) => computeMedians(name, samples.get(name) ?? []));
  return {
    title: one.title,
    rows,
    findings: (one.targets ?? []).map((target) => checkTarget(target, rows)),
    skipped: null,
  };
}

export function skip({ title }: Case, skipped: string): Result {
  return { title, rows: [], findings: [], skipped };
}

/** Runs the subjects in turn, round by round, so that other work on the machine affects all subjects equally. */
async function measure(subjects: Subjects, rounds: number): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map(Object.keys(subjects).map((name): [string, Sample[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, subject] of Object.entries(subjects)) {
      if (round < (subject.rounds ?? rounds)) samples.get(name)?.push(await subject.run());
    }
  }
  return samples;
}

function computeMedians(name: string, samples: readonly Sample[]): Row {
  const figures: readonly Figure[] = ['milliseconds', 'cpu', 'peak', 'requests'];
  const known = figures.flatMap((figure) => {
    const values = samples.flatMap((sample) => sample[figure] ?? []);
    return values.length === 0 ? [] : [[figure, median(values)]];
  });
  return { milliseconds: Number.NaN, ...Object.fromEntries(known), name, rounds: samples.length };
}

function checkTarget(target: Target, rows: readonly Row[]): Finding {
  const compare = (figure: Figure): number => {
    const findFigure = (name: string) => rows.find((row) => row.name === name)?.[figure] ?? Number.NaN;
    return findFigure(target.of) / (target.to === undefined ? 1 : findFigure(target.to));
  };
  const [value, cpuRatio] = [compare(target.figure), compare('cpu')];
  return { ...target, value, cpuRatio: Number.isNaN(cpuRatio) ? null : cpuRatio, met: value <= target.atMost };
}

/** Computes the median. For an even number of values, this is the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return middle.reduce<number>((sum, value) => sum + (value ?? Number.NaN) / 2, 0);
}
