import type { ReportDrift } from '../schemas/report.ts';
import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import { refText } from './render-change.ts';

type EnvironmentDrift = Extract<ReportDrift, { readonly environment: string }>;

const how = {
  outside: 'changed outside of git',
  unfinished: 'left from an earlier sync',
} as const satisfies Record<ReportDrift['kind'], string>;

/** One line for what stands in the service although nobody wrote it into a file, with the id that leads back to it. */
export function renderDrift(drift: ReportDrift, colours: Colours): string {
  const where = 'field' in drift ? drift.field : inertLine(drift.environment);
  const text = 'field' in drift ? fieldText(drift.observed, drift.expected) : environmentText(drift);
  return `${colours.magenta('!')} ${where}: ${how[drift.kind]}: ${text}`;
}

function environmentText({ observed, expected }: EnvironmentDrift): string {
  const wanted = `the base wants ${refText(expected)}`;
  if (observed === null) return `nothing is active; ${wanted}`;
  const origin = observed.commit === undefined ? 'made outside of git' : `made from ${inertLine(observed.commit)}`;
  return `${refText(observed)} is active (${origin}; version:${inertLine(observed.id)} goes back to it); ${wanted}`;
}

function fieldText(observed: string, expected: string): string {
  return `it is ${JSON.stringify(inertLine(observed))}; the base wants ${JSON.stringify(inertLine(expected))}`;
}
