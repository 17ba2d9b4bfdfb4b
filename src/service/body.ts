/** What was read of a body, and why it ended: it was whole, it went over the limit, or it broke. */
export type Reading = {
  readonly bytes: Uint8Array;
  readonly end: 'whole' | 'over' | 'broken';
  readonly error?: unknown;
};

/** Holds little more than `limit` bytes however much comes; leaving the loop ends the connection. Never rejects. */
export async function readUpTo(body: AsyncIterable<Uint8Array>, limit: number): Promise<Reading> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limit) return { bytes: Buffer.concat(chunks), end: 'over' };
    }
    return { bytes: Buffer.concat(chunks), end: 'whole' };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), end: 'broken', error };
  }
}
