import type { JsonValue } from './json.ts';

/** A mismatch between a value and its shape, as zod reports it. Each kind has only some of the properties. */
export type ShapeFault = {
  readonly code: string;
  /** The message from zod, or the message that the shape itself defines. */
  readonly message: string;
  readonly expected?: unknown;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly values?: unknown;
};

/** Matches the beginning of each of zod's own messages. */
const ZOD_WORDING = /^(Invalid|Too (small|big)|Unrecognized)\b/;

const EXPECTED_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
]);

/** The words before and after a limit, by the type of the value that has the limit. */
const LIMIT_WORDS: ReadonlyMap<unknown, readonly [before: string, after: string]> = new Map([
  ['string', ['', ' characters']],
  ['array', ['', ' items']],
  ['number', ['a number of ', '']],
]);

/** Describes a mismatch as a clause, such as `expected text, but found a number`, or in the shape's own words. */
export function describeShapeFault(fault: ShapeFault, value: JsonValue | undefined): string {
  if (!ZOD_WORDING.test(fault.message)) return fault.message;
  const expected = describeExpectedValue(fault);
  return expected === null
    ? 'it is not in the expected format'
    : `expected ${expected}${describeFoundValue(fault, value)}`;
}

function describeExpectedValue(fault: ShapeFault): string | null {
  const { code, origin, minimum, maximum, inclusive, values, expected } = fault;
  const [before, after] = LIMIT_WORDS.get(origin) ?? ['', ''];
  switch (code) {
    case 'invalid_type':
      return EXPECTED_TYPES.get(expected) ?? null;
    case 'invalid_value':
      return Array.isArray(values) ? joinChoices(values.map((choice) => JSON.stringify(choice))) : null;
    case 'too_small':
      return `${before}${inclusive === false ? 'more than' : 'at least'} ${String(minimum)}${after}`;
    case 'too_big':
      return `${before}${inclusive === false ? 'less than' : 'at most'} ${String(maximum)}${after}`;
    default:
      return null;
  }
}

/** Joins choices into a phrase, such as `"a", "b", or "c"`. */
function joinChoices(choices: readonly string[]): string {
  const [last = '', ...others] = choices.toReversed();
  if (others.length === 0) return last;
  return `${others.toReversed().join(', ')}${others.length > 1 ? ',' : ''} or ${last}`;
}

/** Names the type of the value if the mismatch is about types, but never the value, because it can be secret. */
function describeFoundValue({ code, expected }: ShapeFault, value: JsonValue | undefined): string {
  if (code !== 'invalid_type' || value === undefined) return '';
  // If a whole number is expected, the words "found a number" would explain nothing.
  return expected === 'int' && typeof value === 'number' ? '' : `, but found ${nameType(value)}`;
}

function nameType(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return String(value);
    default:
      return 'a mapping';
  }
}
