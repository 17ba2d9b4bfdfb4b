/** How often each command and each situation came about. */
export type Statistics = Map<string, number>;

export function note(statistics: Statistics, what: string, times = 1): void {
  statistics.set(what, (statistics.get(what) ?? 0) + times);
}

export function addAll(to: Statistics, from: Iterable<readonly [what: string, times: number]>): void {
  for (const [what, times] of from) note(to, what, times);
}

export function rendered(statistics: Statistics): string {
  const rows = [...statistics].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([what, times]) => `${String(times).padStart(10)}  ${what}\n`).join('');
}
