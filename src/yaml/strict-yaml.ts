import { LineCounter, parseDocument, type Document } from 'yaml';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { toJson } from './to-json.ts';

/** A YAML mapping as plain data that still knows where each of its values stands. */
export type LocatedMapping = {
  readonly value: JsonObject;
  readonly has: (path: readonly PropertyKey[]) => boolean;
  /** The place of the value at a path, or of the nearest value around it. */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
  readonly keyPlaceOf: (path: readonly PropertyKey[]) => Place;
};

export type YamlResult = { readonly mapping: LocatedMapping | null; readonly problems: readonly Problem[] };

/**
 * Parses one YAML 1.2 document (core schema) that must be a mapping of plain JSON data: no tags, anchors, aliases,
 * merge keys, directives, duplicate keys or numbers that JavaScript cannot keep.
 * @param firstLine the line of the file on which the text begins
 */
export function parseStrictYaml(text: string, path: string, firstLine = 1): YamlResult {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { path, line: line + firstLine - 1, column: col };
  };
  const document = parseQuietly(text, lines);
  if (document === null) return failed([makeProblem('yaml/too-deep', {}, placeAt(0))]);
  const problems = syntaxProblems(document, placeAt);
  if (problems.length > 0) return failed(problems);
  if (document.contents === null) return { mapping: locate({}, new Map(), placeAt(0)), problems: [] };
  const result = toJson(document.contents, placeAt);
  if (result.problems.length > 0) return failed(result.problems);
  if (!isJsonObject(result.value)) return failed([makeProblem('yaml/not-a-mapping', {}, placeAt(0))]);
  return { mapping: locate(result.value, result.places, placeAt(0)), problems: [] };
}

/** Null when the nesting is deeper than the library's recursion can follow. */
function parseQuietly(text: string, lineCounter: LineCounter): Document | null {
  try {
    return parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false, // The library's check is quadratic; to-json.ts has its own.
      intAsBigInt: true,
      prettyErrors: false,
      logLevel: 'silent',
      lineCounter,
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function syntaxProblems(document: Document, placeAt: (offset: number) => Place): readonly Problem[] {
  const warnings = document.warnings.filter((warning) => warning.code !== 'TAG_RESOLVE_FAILED');
  const found = [...document.errors, ...warnings].map((error) =>
    makeProblem('yaml/syntax', { reason: firstSentence(error.message) }, placeAt(error.pos[0])),
  );
  if (document.directives?.yaml.explicit !== true) return found;
  return [...found, makeProblem('yaml/syntax', { reason: 'directives are not allowed' }, placeAt(0))];
}

function firstSentence(message: string): string {
  return (message.split('\n')[0] ?? message).replace(/[.:]?\s*$/, '');
}

function locate(value: JsonObject, places: ReadonlyMap<string, Place>, start: Place): LocatedMapping {
  const nearest = (path: readonly PropertyKey[]): Place =>
    places.get(placeKey(path)) ?? (path.length > 0 ? nearest(path.slice(0, -1)) : start);
  return {
    value,
    has: (path) => places.has(placeKey(path)),
    placeOf: nearest,
    keyPlaceOf: (path) => places.get(`key ${placeKey(path)}`) ?? nearest(path),
  };
}

function placeKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path);
}

function failed(problems: readonly Problem[]): YamlResult {
  return { mapping: null, problems };
}
