export type Part = readonly [count: number, one: string, many: string];

/** `1 file`, `2 files`. */
export function counted([count, one, many]: Part): string {
  return `${count} ${count === 1 ? one : many}`;
}
