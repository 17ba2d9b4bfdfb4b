/** How one thing of ours on GitHub is found, changed and made. */
export type Upsert<Found> = {
  readonly find: () => Promise<Found | null>;
  readonly update: (found: Found) => Promise<void>;
  /** To be sent once: it would make a second one. */
  readonly create: () => Promise<unknown>;
};

/** Updates what is there, else makes it. When the answer to that was lost, it is looked for before it is sent again. */
export async function upsert<Found>({ find, update, create }: Upsert<Found>): Promise<void> {
  const found = await find();
  if (found !== null) return update(found);
  try {
    await create();
  } catch (error) {
    if (!mayHaveWorked(error)) throw error;
    const made = await find();
    await (made === null ? create() : update(made));
  }
}

/** No answer, or one of a gateway's: what was sent may have been done. */
function mayHaveWorked(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) >= 500;
}
