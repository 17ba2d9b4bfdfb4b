import { isJsonObject } from '../domain/json.ts';

/** Finds the human-readable message in the JSON body of an error response, in any of the usual shapes. */
export function findErrorMessage(body: string): string | null {
  try {
    return describeError(JSON.parse(body), MAX_DEPTH) || null;
  } catch {
    return null;
  }
}

/** The maximum number of nested objects and lists around a message. A sender can nest a body to any depth. */
const MAX_DEPTH = 4;
/** One fault is usually enough to understand the others. */
const MAX_FAULTS = 3;

/** In the order in which they are tried. `error` is late, because it often holds only the name of an error class. */
const MESSAGE_PROPERTIES = ['message', 'msg', 'detail', 'error_description', 'error', 'errors', 'title'];

/** Returns the message as one line, or the empty string if there is none. */
function describeError(error: unknown, depth: number): string {
  if (typeof error === 'string') return error.trim();
  if (depth === 0) return '';
  if (Array.isArray(error)) {
    const faults = error.slice(0, MAX_FAULTS).map((fault) => describeFault(fault, depth - 1));
    return faults.filter((fault) => fault !== '').join('; ');
  }
  if (!isJsonObject(error)) return '';
  const messages = MESSAGE_PROPERTIES.map((property) => describeError(error[property], depth - 1));
  const message = messages.find((found) => found !== '') ?? '';
  // Some services send a general `message` and a list of faults in `error`.
  const faults = Array.isArray(error['error']) ? describeError(error['error'], depth - 1) : '';
  return faults === '' || faults === message ? message : `${message}: ${faults}`;
}

/** Describes one fault of a list, with the path of the faulty value if there is one. */
function describeFault(fault: unknown, depth: number): string {
  const message = describeError(fault, depth);
  if (message === '' || !isJsonObject(fault)) return message;
  const { path, loc = path } = fault;
  const field = Array.isArray(loc) ? loc.filter((step) => typeof step !== 'object').join('.') : '';
  return field === '' ? message : `${field}: ${message}`;
}
