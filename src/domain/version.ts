/** A version named in a plan: `number` is null where only the id is known. */
export type VersionRef = { readonly id: string; readonly number: number | null };

/** What a version is called where people read it: `v7`, or its id where the number is not known. */
export function labelOf({ id, number }: VersionRef): string {
  return number === null ? id : `v${number}`;
}

export function refOf({ id, number }: { readonly id: string; readonly number: number }): VersionRef {
  return { id, number };
}
