import { LONGEST_PATTERN } from '../domain/literal-selector.ts';
import { line } from '../files/yaml-shape.ts';

/** A step up is followed at a pattern's start, where it is seen whether it leaves the repository. */
const UP_IN_BRACES = /[{,](?:[^{},]*\/)?\.\.(?=[/,}])/;

/** A pattern of prompt files. What other tools take for groups in parentheses would silently match nothing here. */
export const pattern = line
  .max(LONGEST_PATTERN, `it is longer than ${LONGEST_PATTERN} characters`)
  .refine((text) => text !== '!', 'it is empty')
  .refine((text) => !UP_IN_BRACES.test(text), 'it holds .. within braces; write one pattern for each folder')
  .refine((text) => !/[()]/.test(text), 'it holds parentheses; use braces, or a pattern that begins with !')
  // What it says of braces is left to the parser.
  .meta({ pattern: '^(?!!$)[^()\\p{Cc}]+$' });
