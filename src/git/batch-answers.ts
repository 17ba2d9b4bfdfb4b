/** An object of git's: a commit, a tree, a blob or a tag. */
export type GitObject = { readonly id: string; readonly kind: string; readonly bytes: Buffer };

const LINE_FEED = 0x0a;

/**
 * Reads what `git cat-file --batch` writes, in pieces of any size: for each object a line with id, kind and size, its
 * bytes and a line feed; for what is none a line that says so. Answers are told in order, null for no object.
 */
export function readAnswers(tell: (found: GitObject | null) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let length = 0;
  let needed = 1;
  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    // A large object is put together once, when all of it is there.
    if (length < needed) return;
    let rest = pieces.length === 1 ? piece : Buffer.concat(pieces, length);
    for (let answer = answerIn(rest); ; answer = answerIn(rest)) {
      if (typeof answer === 'number') {
        needed = answer;
        break;
      }
      rest = rest.subarray(answer.end);
      tell(answer.found);
    }
    pieces = [rest];
    length = rest.length;
  };
}

/** The first answer and where it ends; how many bytes it takes to go on where it is not whole. */
function answerIn(bytes: Buffer): { readonly found: GitObject | null; readonly end: number } | number {
  const lineEnd = bytes.indexOf(LINE_FEED);
  if (lineEnd === -1) return bytes.length + 1;
  const header = bytes.toString('latin1', 0, lineEnd);
  const [, id, kind, size] = /^((?:[0-9a-f]{40}|[0-9a-f]{64})) ([a-z]+) ([0-9]+)$/.exec(header) ?? [];
  const start = lineEnd + 1;
  if (id === undefined || kind === undefined) return { found: null, end: start };
  const end = start + Number(size) + 1;
  return bytes.length < end ? end : { found: { id, kind, bytes: bytes.subarray(start, end - 1) }, end };
}
