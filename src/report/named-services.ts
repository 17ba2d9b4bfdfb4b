import type { Report } from './schema.ts';

/**
 * The addresses in a report's `service`, by the names that its prompts call them by; the name of one without is empty.
 * Several stand there in the order of their names: `eu: https://eu.example.com, us: https://us.example.com`.
 */
export function namedServices({ service, prompts }: Pick<Report, 'service' | 'prompts'>): ReadonlyMap<string, string> {
  if (service === null) return new Map();
  const names = [...new Set(prompts.map((prompt) => prompt.service ?? ''))].toSorted();
  return splitAt(names, service) ?? new Map([['', service]]);
}

/** A name may hold what stands between two services; an address before it hardly does. */
function splitAt(names: readonly string[], service: string): ReadonlyMap<string, string> | null {
  const text = `, ${service}`;
  const starts: number[] = [];
  for (const name of names) {
    const at = text.indexOf(label(name), starts.at(-1) ?? 0);
    if (name === '' || at === -1 || (starts.length === 0 && at > 0)) return null;
    starts.push(at);
  }
  if (names.length === 0) return null;
  return new Map(
    names.map((name, index) => [name, text.slice((starts[index] ?? 0) + label(name).length, starts[index + 1])]),
  );
}

function label(name: string): string {
  return `, ${name}: `;
}
