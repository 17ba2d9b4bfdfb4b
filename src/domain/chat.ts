import { computeDigest, type Digest } from './digest.ts';
import { renderCanonicalJson } from './json.ts';
import { replaceUnusualBlanks, type TextSpan, trimLineFeeds } from '../text.ts';

/** A `chat` prompt is a list of messages, handled as text in the canonical form of `docs/chat-prompts.md`. */
export const PROMPT_TYPES = ['text', 'chat'] as const;
/** The type of a prompt. It never changes. */
export type PromptType = (typeof PROMPT_TYPES)[number];

/**
 * A message, or a placeholder that the application replaces with messages. The properties match what services store,
 * because the digest of a chat prompt covers them.
 */
export type ChatMessage = RoleMessage | ChatPlaceholder;
type RoleMessage = { readonly role: string; readonly content: string };
type ChatPlaceholder = { readonly type: 'placeholder'; readonly name: string };

export type LocatedMessage = {
  readonly message: ChatMessage;
  /** The line of the marker, counted from 1. */
  readonly line: number;
  /** Everything between the marker line and the next marker, including the blank lines around the content. */
  readonly section: TextSpan;
};

/** A line that makes the text of a chat prompt invalid. */
export type ChatFault = {
  readonly kind: 'no-messages' | 'text-before-marker' | 'text-after-placeholder' | 'invalid-marker';
  /** The line, counted from 1. If there are no messages, it is the first line that is not blank, or else line 1. */
  readonly line: number;
  /** The content of the line, without its line break. */
  readonly text: string;
};

/** The messages of a chat prompt, and the faults in its text. If there are faults, the messages are incomplete. */
export type ParsedChat = { readonly messages: readonly LocatedMessage[]; readonly faults: readonly ChatFault[] };

export const PLACEHOLDER_NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/;

/** Matches a marker line. `parseName` checks that the name is a JSON string. */
const MARKER = /^\{\{(role|placeholder) (".*")\}\}[ \t]*$/su;

/** Matches a line that looks like a marker. If its braces follow a backslash, the line is escaped content. */
const MARKER_LOOKALIKE = /^([ \t]*)(\\*)(?=\{\{[ \t]*(?:role|placeholder)[ \t]*["'])/;

/**
 * Matches content that its author may have meant as a marker, such as `{{Role "user"}}` or `{{role user}}`. A carriage
 * return or a line separator also begins a line, because editors show the text after it on a separate line.
 */
const POSSIBLE_MARKER =
  /^[ \t]*\{\{[ \t]*(?:role|placeholder)[ \t]*\p{Quotation_Mark}|^\{\{(?:role|placeholder)[ \t]/imu;

/** Compares the line as readers see it: a no-break space after `role` looks exactly like a space. */
export function mayBeMisspelledMarker(line: string): boolean {
  // Most lines contain no brace, and this test is much faster than the others.
  if (!line.includes('{') || MARKER_LOOKALIKE.test(line)) return false;
  return POSSIBLE_MARKER.test(replaceUnusualBlanks(line));
}

/** Accepts every form that users can write, not only the canonical form. The text must have LF line endings. */
export function parseChatText(text: string): ParsedChat {
  const messages: LocatedMessage[] = [];
  const faults: ChatFault[] = [];
  for (const { marker, line, section } of splitAtMarkers(text)) {
    const sectionText = text.slice(section.start, section.end);
    switch (marker?.kind) {
      case 'role':
        messages.push({ message: { role: marker.name, content: parseContent(sectionText) }, line, section });
        break;
      case 'placeholder':
        messages.push({ message: { type: 'placeholder', name: marker.name }, line, section });
        faults.push(...findText(sectionText, line + 1, 'text-after-placeholder'));
        break;
      case 'invalid':
        faults.push({ kind: 'invalid-marker', line, text: marker.text });
        break;
      case undefined:
        faults.push(...findText(sectionText, 1, 'text-before-marker'));
    }
  }
  const hasMarkers = messages.length > 0 || faults.some(({ kind }) => kind === 'invalid-marker');
  if (hasMarkers) return { messages, faults };
  const { line, text: lineText } = faults[0] ?? { line: 1, text: '' };
  return { messages, faults: [{ kind: 'no-messages', line, text: lineText }] };
}

/** Returns the messages of a valid chat prompt, without their positions. */
export function listMessages(text: string): readonly ChatMessage[] {
  return parseChatText(text).messages.map(({ message }) => message);
}

/** A line that begins a message. Its kind is `invalid` if the line looks like a marker but is not one. */
type Marker =
  | { readonly kind: 'role' | 'placeholder'; readonly name: string }
  | { readonly kind: 'invalid'; readonly text: string };

/** A marker and the text below it, up to the next marker. The marker is null for the text above the first marker. */
type MarkedSection = { readonly marker: Marker | null; readonly line: number; readonly section: TextSpan };

function splitAtMarkers(text: string): readonly MarkedSection[] {
  const starts: {
    readonly marker: Marker | null;
    readonly line: number;
    readonly at: number;
    readonly start: number;
  }[] = [{ marker: null, line: 0, at: 0, start: 0 }];
  let at = 0;
  for (const [index, lineText] of text.split('\n').entries()) {
    const marker = findMarker(lineText);
    const next = at + lineText.length + 1;
    if (marker !== null) starts.push({ marker, line: index + 1, at, start: Math.min(next, text.length) });
    at = next;
  }
  return starts.map(({ marker, line, start }, index) => {
    const end = starts[index + 1]?.at ?? text.length;
    return { marker, line, section: { start, end } };
  });
}

/** Returns null if the line is content. */
function findMarker(line: string): Marker | null {
  const [, , backslashes] = MARKER_LOOKALIKE.exec(line) ?? [];
  if (backslashes === undefined || backslashes !== '') return null;
  const [, kind, json = ''] = MARKER.exec(line) ?? [];
  const name = kind === undefined ? null : parseName(json);
  if (name === null || !isStorable(name)) return { kind: 'invalid', text: line };
  if (kind === 'role') return { kind, name };
  return PLACEHOLDER_NAME.test(name) ? { kind: 'placeholder', name } : { kind: 'invalid', text: line };
}

/** Returns null if the name is not a JSON string. */
function parseName(json: string): string | null {
  try {
    const name: unknown = JSON.parse(json);
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}

function isStorable(name: string): boolean {
  return name.isWellFormed() && !name.includes('\0');
}

/** Returns the number of the first line that is a valid marker, counted from 1. Null if there is none. */
export function findFirstMarkerLine(text: string): number | null {
  const isMarker = (line: string): boolean => {
    const marker = findMarker(line);
    return marker !== null && marker.kind !== 'invalid';
  };
  const index = text.split('\n').findIndex(isMarker);
  return index === -1 ? null : index + 1;
}

/** Returns a fault for the first line that is not blank. */
function findText(text: string, firstLine: number, kind: ChatFault['kind']): readonly ChatFault[] {
  const lines = text.split('\n');
  const index = lines.findIndex((line) => line.trim() !== '');
  return index === -1 ? [] : [{ kind, line: firstLine + index, text: lines[index] ?? '' }];
}

/** Drops one blank line after the marker and all line breaks at the end, because formatters add them. */
function parseContent(sectionText: string): string {
  const lines = trimLineFeeds(sectionText.replace(/^\n/, '')).split('\n');
  return lines.map((line) => line.replace(MARKER_LOOKALIKE, removeBackslash)).join('\n');
}

function removeBackslash(_: string, indent: string, backslashes: string): string {
  return `${indent}${backslashes.slice(1)}`;
}

/** Renders messages in canonical form. `findUnwritableReason` describes those that no prompt file can hold. */
export function renderChatText(messages: readonly ChatMessage[]): string {
  return messages
    .map((message) => {
      if (!('role' in message)) return renderMarker('placeholder', message.name);
      const marker = renderMarker('role', message.role);
      return message.content === '' ? marker : `${marker}\n${renderContent(message.content)}`;
    })
    .join('\n\n');
}

export function renderMarker(kind: 'role' | 'placeholder', name: string): string {
  return `{{${kind} ${JSON.stringify(name)}}}`;
}

/** Escapes lines that look like markers. Doubles a line break at the start, because parsing drops the first one. */
export function renderContent(content: string): string {
  return `${content.startsWith('\n') ? '\n' : ''}${content.split('\n').map(escapeContentLine).join('\n')}`;
}

/** Adds a backslash to a line that looks like a marker, so that parsing returns the line as content. */
export function escapeContentLine(line: string): string {
  return line.replace(MARKER_LOOKALIKE, (indentAndBackslashes) => `${indentAndBackslashes}\\`);
}

/** Computes the digest of a chat prompt. It covers the type, so a text prompt never has the same digest. */
export function computeChatDigest(messages: readonly ChatMessage[]): Digest {
  return computeDigest(`chat\0${renderCanonicalJson(messages)}`);
}

/** Matches any marker line of a canonical text, even if no prompt file could hold its name. */
const CANONICAL_MARKER = /^\{\{(role|placeholder) (".*")\}\}$/su;

export type CanonicalMarker = { readonly kind: 'role' | 'placeholder'; readonly name: string };

/** Parses one line of a canonical text. Returns its marker, or null if the line is content. */
export function parseMarkerLine(line: string): CanonicalMarker | null {
  const [, kind, json = ''] = CANONICAL_MARKER.exec(line) ?? [];
  const name = kind === undefined ? null : parseName(json);
  return name === null ? null : { kind: kind === 'role' ? 'role' : 'placeholder', name };
}

export function listMarkers(text: string): readonly CanonicalMarker[] {
  return text.split('\n').flatMap((line) => parseMarkerLine(line) ?? []);
}

/** Appends `*` to a placeholder's name. Renders special names as JSON, so that no role looks like a placeholder. */
export function formatMessageName({ kind, name }: CanonicalMarker): string {
  const shown = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  return kind === 'placeholder' ? `${shown}*` : shown;
}
