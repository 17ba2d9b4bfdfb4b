/** Reads an answer, or hands on what was read of the last one for the same prompt where the two are equal to the byte. */
export type Recall<Answer> = (promptId: string, body: Uint8Array, read: () => Answer) => Answer;

const MOST_PROMPTS = 32;
/** In bytes: little is held of what was received. */
const LONGEST = 64 * 1024;

/** Most environments of a prompt serve the same version, and are asked for one right after the other. */
export function makeRecall<Answer>(): Recall<Answer> {
  const last = new Map<string, { readonly body: Uint8Array; readonly answer: Answer }>();
  return (promptId, body, read) => {
    const known = last.get(promptId);
    if (known !== undefined && Buffer.compare(known.body, body) === 0) return known.answer;
    const answer = read();
    last.delete(promptId);
    if (body.length <= LONGEST) last.set(promptId, { body, answer });
    const [oldest] = last.size > MOST_PROMPTS ? last.keys() : [];
    if (oldest !== undefined) last.delete(oldest);
    return answer;
  };
}
