import { line } from '../yaml/line.ts';

const MOST_STARS = 4;
const MOST_GLOBSTARS = 3;

/** A step up is followed at a pattern's start, where it is seen whether it leaves the repository. `{1..3}` is none. */
const UP_IN_BRACES = /[{,](?:[^{},]*\/)?\.\.(?=[/,}])/;

/**
 * A pattern of prompt files. Patterns become regular expressions, and the time to match a name grows with the power of
 * the stars in it; groups in parentheses are worse still, and `!` and braces do what they do.
 */
export const pattern = line
  .refine((text) => text !== '!', 'it is empty')
  .refine((text) => !UP_IN_BRACES.test(text), 'it holds .. within braces; write one pattern for each folder')
  .refine((text) => !/[()]/.test(text), 'it holds parentheses; use braces, or a pattern that begins with !')
  .refine(
    (text) => text.split('/').every((part) => starsIn(part) <= MOST_STARS),
    `it has more than ${MOST_STARS} stars in one name`,
  )
  .refine((text) => globstarsIn(text) <= MOST_GLOBSTARS, `it has ** more than ${MOST_GLOBSTARS} times`)
  // What it says of stars and braces is left to the parser.
  .meta({ pattern: '^(?!!$)[^()\\p{Cc}]+$' });

function starsIn(part: string): number {
  return part.match(/\*+/g)?.length ?? 0;
}

function globstarsIn(text: string): number {
  return text.match(/\*{2,}/g)?.length ?? 0;
}
