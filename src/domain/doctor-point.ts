import type { Problem } from '../problem.ts';

/** The level of a point. `error` makes `promptsync doctor` exit with 1. */
export const DOCTOR_LEVELS = ['ok', 'warning', 'error'] as const;
export type DoctorLevel = (typeof DOCTOR_LEVELS)[number];

/** The result of one check of `promptsync doctor`. Renderers must escape every string, because it may be untrusted. */
export type DoctorPoint = {
  /** What was checked, such as `live branch`. */
  readonly name: string;
  readonly level: DoctorLevel;
  readonly found: string;
  /** Null if there is nothing to do. */
  readonly hint: string | null;
};

export type DoctorSection = { readonly title: string; readonly points: readonly DoctorPoint[] };

export function makeOkPoint(name: string, found: string): DoctorPoint {
  return { name, level: 'ok', found, hint: null };
}

export function makeWarningPoint(name: string, found: string, hint: string): DoctorPoint {
  return { name, level: 'warning', found, hint };
}

export function makeErrorPoint(name: string, found: string, hint: string): DoctorPoint {
  return { name, level: 'error', found, hint };
}

export function makeProblemPoint(name: string, { severity, message, hint }: Omit<Problem, 'code'>): DoctorPoint {
  return { name, level: severity, found: message, hint };
}

/** Has no hint, because another point shows the cause. The reason is a clause: `the service did not respond`. */
export function makeUncheckedPoint(name: string, reason: string): DoctorPoint {
  return { name, level: 'warning', found: `not checked, because ${reason}`, hint: null };
}

export function isErrorPoint({ level }: DoctorPoint): boolean {
  return level === 'error';
}
