import { computeShortDigest } from '../../domain/digest.ts';

// A comment on a pull request has a section for each environment, enclosed by two hidden lines. After the merge, each
// environment's job replaces only its own section. `escapeSectionLines` keeps data from looking like a hidden line.

const END = '<!-- promptsync section end -->';
const START = /^<!-- promptsync section (applied )?((?:[0-9a-f]+ )+)-->$/;

/** Indents each line of rendered text that could be mistaken for a hidden marker line of a section. */
export function escapeSectionLines(text: string): string {
  return text.replaceAll(/^<!-- promptsync/gm, ' $&');
}

/** Returns a digest, because an environment name could contain `-->` and close the HTML comment. */
function computeMark(environment: string): string {
  return computeShortDigest(environment);
}

/** Wraps text, which must begin and end with a line feed. `isApplied` means that an apply made changes. */
export function wrapSection(environments: readonly string[], text: string, isApplied = false): string {
  const marks = environments.map((environment) => `${computeMark(environment)} `).join('');
  return `\n<!-- promptsync section ${isApplied ? 'applied ' : ''}${marks}-->${text}\n${END}\n`;
}

export function hasAppliedSection(body: string): boolean {
  return body.split(/\r?\n/).some((line) => START.exec(line)?.[1] !== undefined);
}

/** A part of a posted comment: a section for some environments, or the text between two sections. */
type CommentPart = {
  /** The marks of the section's environments. Empty if the part is not a section. */
  readonly marks: readonly string[];
  /** The lines of this part. For a section, they include its hidden marker lines. */
  readonly lines: readonly string[];
};

function parseComment(body: string): readonly CommentPart[] {
  const parts: CommentPart[] = [];
  let marks: readonly string[] = [];
  let lines: string[] = [];
  const endPart = (nextMarks: readonly string[]): void => {
    if (lines.length > 0) parts.push({ marks, lines });
    marks = nextMarks;
    lines = [];
  };
  for (const line of body.split(/\r?\n/)) {
    const start = START.exec(line)?.[2];
    if (start !== undefined) endPart(start.trim().split(' '));
    lines.push(line);
    if (line === END) endPart([]);
  }
  endPart([]);
  return parts;
}

function concernsAny({ marks }: CommentPart, environments: readonly string[]): boolean {
  return environments.some((environment) => marks.includes(computeMark(environment)));
}

/** Returns the section for these environments, with its hidden lines, or null. Several sections are joined. */
export function findSection(body: string, environments: readonly string[]): string | null {
  const sections = parseComment(body).filter((part) => concernsAny(part, environments));
  return sections.length === 0 ? null : sections.flatMap(({ lines }) => lines).join('\n');
}

/**
 * Puts a section from `wrapSection` in the place of the old one. Without an old one, the last environment in promotion
 * order comes first. Without any section, it goes to the end. `promotionOrder` is empty if it is unknown.
 */
export function replaceSection(
  body: string,
  environments: readonly string[],
  section: string,
  promotionOrder: readonly string[] = [],
): string {
  const parts = parseComment(body);
  const isOwn = (part: CommentPart): boolean => concernsAny(part, environments);
  const own = parts.findIndex(isOwn);
  const earlier = promotionOrder.slice(0, promotionOrder.indexOf(environments.at(-1) ?? ''));
  const nextPlace = parts.findIndex((part) => concernsAny(part, earlier));
  const lastSection = parts.findLastIndex(({ marks }) => marks.length > 0);
  const afterSections = lastSection === -1 ? parts.length : lastSection + 1;
  const place = [own, nextPlace].find((index) => index >= 0) ?? afterSections;
  const newPart: CommentPart = { marks: [], lines: section.trim().split('\n') };
  const before = parts.slice(0, place);
  const after = parts.slice(place).filter((part) => !isOwn(part));
  return [...before, newPart, ...after].flatMap(({ lines }) => lines).join('\n');
}
