/** One thing to be measured: resolves to milliseconds. */
export type Cases = Readonly<Record<string, () => Promise<number> | number>>;

/**
 * Measures each case so many times and prints the medians, and their ratios to the first, the floor. Rounds are
 * interleaved, so that whatever else the machine does falls on all cases alike; the first only warms up.
 */
export async function compare(title: string, rounds: number, cases: Cases): Promise<void> {
  const times = new Map(Object.keys(cases).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(cases)) {
      const milliseconds = await measure();
      if (round > 0) times.get(name)?.push(milliseconds);
    }
  }
  const medians = [...times].map(([name, all]): [string, number] => [name, median(all)]);
  const floor = medians[0]?.[1] ?? Number.NaN;
  console.log(`${title}, medians of ${rounds} rounds, Node ${process.version}`);
  for (const [name, time] of medians) {
    const more = `${(time / floor).toFixed(2)} × floor, + ${(time - floor).toFixed(0)} ms`;
    console.log(`${name.padEnd(44)} ${time.toFixed(0).padStart(5)} ms   ${more}`);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
