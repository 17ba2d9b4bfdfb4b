import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import { refText } from './render-change.ts';
import type { ReportDrift } from './schema.ts';

type EnvironmentDrift = Extract<ReportDrift, { readonly environment: string }>;

const word = { outside: 'drifted', unfinished: 'unfinished' } as const satisfies Record<ReportDrift['kind'], string>;

/** What stands in the service although no file says so; for a version also whose it is, and what goes back to it. */
export function renderDrift(drift: ReportDrift, colours: Colours): readonly string[] {
  const where = 'field' in drift ? drift.field : inertLine(drift.environment);
  const sign = colours.magenta('!');
  if (!('field' in drift)) return environmentLines(`${sign} ${where} ${word[drift.kind]}`, drift, colours);
  const [observed, expected] = [drift.observed, drift.expected].map((text) => inertLine(JSON.stringify(text)));
  return [`${sign} ${where} ${word[drift.kind]}: it is ${observed}, the base wants ${expected}`];
}

function environmentLines(title: string, { observed, expected }: EnvironmentDrift, colours: Colours) {
  const wanted = `the base wants ${refText(expected)}`;
  if (observed === null) return [`${title}: nothing is active, ${wanted}`];
  const { id, commit } = observed;
  const origin = commit === undefined ? 'made outside of git' : `made from ${inertLine(commit).slice(0, 12)}`;
  return [
    `${title}: ${refText(observed)} is active, ${wanted}`,
    colours.dim(`  ${origin}; undo: version:${inertLine(id)}`),
  ];
}
