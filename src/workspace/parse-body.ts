import {
  type ChatFault,
  type LocatedMessage,
  type ParsedChat,
  escapeContentLine,
  findFirstMarkerLine,
  mayBeMisspelledMarker,
  parseChatText,
  PLACEHOLDER_NAME,
  type PromptType,
  renderMarker,
} from '../domain/chat.ts';
import { digestChat, digestText, normalizeText, type DigestedText } from '../domain/content.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { findUnusualBlank, findUnusualSpace } from '../text.ts';
import { makeFilePlace, shortenLine, type SplitFile } from './front-matter.ts';

/** The text of a body, and the problems with its markers. If any is an error, the text is the body as written. */
export type ParsedBody = { readonly text: DigestedText; readonly problems: readonly Problem[] };

/** Converts chat messages to canonical form, so that blank lines around them never count as a change. */
export function parseBody(type: PromptType, parts: SplitFile, path: string): ParsedBody {
  const { body, place } = omitBlankLine(parts, path);
  if (type === 'text') {
    const isEmpty = body.trim() === '';
    return {
      text: digestText(body),
      problems: isEmpty ? [makeProblem('prompt/empty-body', {}, makeFilePlace(path, parts.bodyLine))] : [],
    };
  }
  const text = normalizeText(body);
  const parsed = parseChatText(text);
  const { messages, faults } = parsed;
  return {
    text: digestParsedChat(parsed, text),
    problems: [
      ...faults.slice(0, MAX_SHOWN_FAULTS).map((fault) => makeFaultProblem(fault, findPlace(fault, place))),
      ...checkPlaceholderNames(messages, place),
      ...warnAboutMisspelledMarkers(messages, text, place),
      ...warnAboutSpacesInRoles(messages, text, place),
    ],
  };
}

/** Digests a body, with chat messages in canonical form. If they cannot be parsed, digests the body as written. */
export function digestBody(type: PromptType, body: string): DigestedText {
  if (type === 'text') return digestText(body);
  const text = normalizeText(body);
  return digestParsedChat(parseChatText(text), text);
}

/** @param text the text from which the messages were parsed; it is the result if the messages have faults */
function digestParsedChat({ messages, faults }: ParsedChat, text: string): DigestedText {
  if (faults.length > 0) return { ...digestText(text), type: 'chat' };
  return digestChat(messages.map(({ message }) => message));
}

/** The path of the file, and the line of the file on which the text begins, counted from 1. */
type BodyPlace = { readonly path: string; readonly firstLine: number };

/** Drops one blank line at the start of the body, because formatters insert one there. */
function omitBlankLine(
  { body, bodyLine }: SplitFile,
  path: string,
): { readonly body: string; readonly place: BodyPlace } {
  if (!body.startsWith('\n')) return { body, place: { path, firstLine: bodyLine } };
  return { body: body.slice(1), place: { path, firstLine: bodyLine + 1 } };
}

/** The maximum number of marker faults, and also of marker warnings. A hostile file can contain thousands of each. */
const MAX_SHOWN_FAULTS = 100;

/** Returns the place of the first character of a line that is neither a space nor a tab. */
function findPlace({ line, text }: Pick<ChatFault, 'line' | 'text'>, { path, firstLine }: BodyPlace): Place {
  const indent = /^[ \t]*/.exec(text)?.[0].length ?? 0;
  return { path, line: firstLine + line - 1, column: indent + 1 };
}

function makeFaultProblem({ kind, text }: ChatFault, place: Place): Problem {
  switch (kind) {
    case 'no-messages':
      return makeProblem('prompt/no-messages', {}, place);
    case 'text-before-marker':
    case 'text-after-placeholder':
      return makeProblem('prompt/text-outside-message', { isFirst: kind === 'text-before-marker' }, place);
    case 'invalid-marker': {
      const evidence = {
        line: shortenLine(text),
        marker: shortenLine(suggestMarker(text)),
        escaped: shortenLine(escapeContentLine(text)),
      };
      return makeProblem('prompt/invalid-marker', evidence, place);
    }
  }
}

/** Returns the marker that the author of an invalid marker line probably meant. */
function suggestMarker(line: string): string {
  const [, kind, name = ''] = /\{\{[ \t]*(role|placeholder)[ \t]*["']([^"'}]*)/.exec(line) ?? [];
  if (kind !== 'placeholder') return renderMarker('role', name.trim());
  const safeName = name
    .trim()
    .replaceAll(/[^a-zA-Z0-9]+/g, '_')
    .replace(/^[^a-zA-Z]+/, '');
  return renderMarker('placeholder', PLACEHOLDER_NAME.test(safeName) ? safeName : 'history');
}

/** Reports placeholders named like a variable. A service refuses them, unless the variable has spaces in its braces. */
function checkPlaceholderNames(messages: readonly LocatedMessage[], place: BodyPlace): readonly Problem[] {
  const contents = messages.flatMap(({ message }) => ('role' in message ? [message.content] : []));
  const variables = new Set(
    contents.flatMap((content) => [...content.matchAll(TIGHT_VARIABLE)].map(([, name]) => name)),
  );
  // Placeholders may repeat. Report only the first of each name.
  const firstLines = new Map<string, number>();
  for (const { message, line } of messages) {
    if ('role' in message || !variables.has(message.name) || firstLines.has(message.name)) continue;
    firstLines.set(message.name, line);
  }
  return [...firstLines]
    .slice(0, MAX_SHOWN_FAULTS)
    .map(([name, line]) =>
      makeProblem('prompt/placeholder-is-variable', { name }, findPlace({ line, text: '' }, place)),
    );
}

/** Matches a variable that has no white space inside its braces and whose name is also a valid placeholder name. */
const TIGHT_VARIABLE = /\{\{([a-zA-Z][a-zA-Z0-9_]*)\}\}/g;

/** Warns about lines of message content that their author may have meant as markers. */
function warnAboutMisspelledMarkers(
  messages: readonly LocatedMessage[],
  text: string,
  place: BodyPlace,
): readonly Problem[] {
  const lines = messages.flatMap(({ message, line, section }) => {
    if (!('role' in message)) return [];
    const sectionLines = text.slice(section.start, section.end).split('\n');
    return sectionLines.map((lineText, index) => ({ text: lineText, line: line + 1 + index }));
  });
  const suspects = lines.filter((line) => mayBeMisspelledMarker(line.text)).slice(0, MAX_SHOWN_FAULTS);
  return suspects.map((line) =>
    makeProblem(
      'prompt/possible-marker',
      { line: shortenLine(line.text), blank: findUnusualBlank(line.text), isMarker: false },
      findPlace(line, place),
    ),
  );
}

/** Warns about roles with a Unicode space, which look like other roles. Escape sequences are visible and allowed. */
function warnAboutSpacesInRoles(
  messages: readonly LocatedMessage[],
  text: string,
  place: BodyPlace,
): readonly Problem[] {
  const suspects = messages.filter(({ message }) => 'role' in message && findUnusualSpace(message.role) !== null);
  if (suspects.length === 0) return [];
  const lines = text.split('\n');
  const problems = suspects.flatMap(({ line }) => {
    const lineText = lines[line - 1] ?? '';
    const blank = findUnusualSpace(lineText);
    if (blank === null) return [];
    const evidence = { line: shortenLine(lineText), blank, isMarker: true };
    return [makeProblem('prompt/possible-marker', evidence, findPlace({ line, text: lineText }, place))];
  });
  return problems.slice(0, MAX_SHOWN_FAULTS);
}

/**
 * Warns about the first marker in the body of a text prompt. If its author forgot `type: chat`, the first sync would
 * create a text prompt, and the type of a prompt never changes.
 */
export function warnAboutMarkerInText(parts: SplitFile, path: string): readonly Problem[] {
  const { body, place } = omitBlankLine(parts, path);
  const line = findFirstMarkerLine(body);
  return line === null ? [] : [makeProblem('prompt/marker-in-text', {}, findPlace({ line, text: '' }, place))];
}
