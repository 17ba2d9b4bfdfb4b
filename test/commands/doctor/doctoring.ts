import { expect } from 'vitest';
import { DoctorReportShape } from '../../../src/commands/doctor/doctor-schema.ts';
import { openWorkspace } from '../../../src/desired-state/open-workspace.ts';
import type { DoctorPoint, DoctorSection } from '../../../src/domain/doctor-point.ts';
import type { System } from '../../../src/domain/system.ts';
import { run, type Ran, type RunOptions } from '../../support/run.ts';
import { makeSystem } from '../../support/system.ts';

/** The points of an examination. */
export type Points = {
  readonly points: readonly DoctorPoint[];
  /** Returns the only point with this name. */
  readonly point: (name: string) => DoctorPoint;
  /** Returns the names of the points with this level, in order. */
  readonly named: (level: DoctorPoint['level']) => readonly string[];
};

/** The result of `promptsync doctor --format json`. */
export type Examined = Ran & Points;

export function readPoints(points: readonly DoctorPoint[]): Points {
  return {
    points,
    point: (name) => {
      const found = points.filter((one) => one.name === name);
      expect(found.map((one) => one.name)).toEqual([name]);
      return found[0]!;
    },
    named: (level) => points.filter((one) => one.level === level).map(({ name }) => name),
  };
}

export function readSections(sections: readonly DoctorSection[]): Points {
  return readPoints(sections.flatMap(({ points }) => points));
}

/** Runs `promptsync doctor`. Expects output that matches the schema, and no point with a level but without a cause. */
export async function examine(folder: string, words: readonly string[], options: RunOptions = {}): Promise<Examined> {
  const ran = await run(folder, ['doctor', ...words, '--format', 'json'], options);
  const { points } = DoctorReportShape.strict().parse(JSON.parse(ran.stdout));
  expect(ran.stdout).not.toContain('undefined');
  // The exit code follows from the levels, unless the run was interrupted.
  const expected = points.some(({ level }) => level === 'error') ? 1 : 0;
  expect([expected, 130]).toContain(ran.exitCode);
  return { ...ran, ...readPoints(points) };
}

/** Opens the workspace of a folder for a part of the examination. */
export async function openFolder(folder: string, environment: System['environment'] = {}) {
  const system = makeSystem(folder, environment);
  return { system, workspace: await openWorkspace({ only: [] }, system) };
}
