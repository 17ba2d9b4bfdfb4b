import { expect } from 'vitest';
import { DoctorReportShape } from '../../../src/commands/doctor/doctor-schema.ts';
import type { DoctorPoint } from '../../../src/domain/doctor-point.ts';
import { run, type Ran, type RunOptions } from '../../support/run.ts';

/** The result of `promptsync doctor --format json`. */
export type Examined = Ran & {
  readonly points: readonly DoctorPoint[];
  /** Returns the only point with this name. */
  readonly point: (name: string) => DoctorPoint;
  /** Returns the names of the points with this level, in order. */
  readonly named: (level: DoctorPoint['level']) => readonly string[];
};

/** Runs `promptsync doctor`. Expects output that matches the schema, and no point with a level but without a cause. */
export async function examine(folder: string, words: readonly string[], options: RunOptions = {}): Promise<Examined> {
  const ran = await run(folder, ['doctor', ...words, '--format', 'json'], options);
  const { points } = DoctorReportShape.strict().parse(JSON.parse(ran.stdout));
  expect(ran.stdout).not.toContain('undefined');
  // The exit code follows from the levels, unless the run was interrupted.
  const expected = points.some(({ level }) => level === 'error') ? 1 : 0;
  expect([expected, 130]).toContain(ran.exitCode);
  return {
    ...ran,
    points,
    point: (name) => {
      const found = points.filter((one) => one.name === name);
      expect(found.map((one) => one.name)).toEqual([name]);
      return found[0]!;
    },
    named: (level) => points.filter((one) => one.level === level).map(({ name }) => name),
  };
}
