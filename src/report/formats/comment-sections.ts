import { computeDigest, shortenDigest } from '../../domain/digest.ts';

// A comment on a pull request has one section for each environment. The review writes the whole comment. After the merge,
// each environment's job replaces its own section and leaves the others alone. Two hidden lines enclose a section.
// Code blocks show data at the start of a line, so `escapeSectionLines` makes sure that data cannot look like these lines.

const END = '<!-- promptsync section end -->';
const START = /^<!-- promptsync section (applied )?((?:[0-9a-f]+ )+)-->$/;

/** Indents each line of rendered text that could be mistaken for a hidden marker line of a section. */
export function escapeSectionLines(text: string): string {
  return text.replaceAll(/^<!-- promptsync/gm, ' $&');
}

/**
 * An environment name could contain `-->` and close the HTML comment, so the hidden lines contain a digest of the name.
 */
function computeMark(environment: string): string {
  return shortenDigest(computeDigest(environment));
}

/**
 * Wraps text in the hidden marker lines of a section. The text must begin and end with a line feed.
 * @param isApplied whether the section reports an apply that made changes
 */
export function wrapSection(environments: readonly string[], text: string, isApplied = false): string {
  const marks = environments.map((environment) => `${computeMark(environment)} `).join('');
  return `\n<!-- promptsync section ${isApplied ? 'applied ' : ''}${marks}-->${text}\n${END}\n`;
}

/** Returns true if a section of the comment reports an apply that changed something. */
export function hasAppliedSection(body: string): boolean {
  return body.split(/\r?\n/).some((line) => START.exec(line)?.[1] !== undefined);
}

/**
 * A part of a posted comment: either a section that covers one or more environments, or the text between two sections.
 */
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

/**
 * Returns the section for these environments, with its hidden lines. If there are several, joins them. Returns null if
 * the comment has none.
 */
export function findSection(body: string, environments: readonly string[]): string | null {
  const sections = parseComment(body).filter((part) => concernsAny(part, environments));
  return sections.length === 0 ? null : sections.flatMap(({ lines }) => lines).join('\n');
}

/**
 * Returns the comment with a new section for these environments. The new section takes the place of the old one. If
 * the comment has no such section, the new one goes where its environments belong: the last environment in promotion
 * order comes first. Without any section, it goes to the end.
 * @param section the text that `wrapSection` returned
 * @param promotionOrder the configured environments; empty if their order is unknown
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
