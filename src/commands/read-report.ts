import { resolve } from 'node:path';
import { readBytes } from '../files/read-write.ts';
import { makeProblem, ProblemError, systemCodeOf } from '../problem.ts';
import { ReportShape, type Report } from '../report/schema.ts';

/** Of a report, in bytes. */
const LARGEST_REPORT = 64 * 1024 * 1024;

/**
 * Reads a JSON report that a run has written, of at most 64 MiB.
 * @param file relative to the working directory
 * Throws a `ProblemError` for a file that cannot be read, or that is no report of this version's.
 */
export function readReport(file: string, workingDirectory: string): Report {
  const fail = (reason: string) => new ProblemError(makeProblem('usage/not-a-report', { path: file, reason }));
  const bytes = bytesOf(resolve(workingDirectory, file), fail);
  const parsed = ReportShape.safeParse(jsonOf(bytes, fail));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw fail(`${issue?.path.join('.') || 'the report'}: ${issue?.message ?? 'not valid'}`);
}

type Fail = (reason: string) => ProblemError;

function bytesOf(path: string, fail: Fail): Uint8Array {
  const read = readOrThrow(path, fail);
  if (read instanceof Uint8Array) return read;
  throw fail('tooLarge' in read ? `it has ${read.tooLarge} bytes; 64 MiB is the most` : read.reason);
}

function readOrThrow(path: string, fail: Fail) {
  try {
    return readBytes(path, LARGEST_REPORT);
  } catch (error) {
    throw fail(systemCodeOf(error));
  }
}

function jsonOf(bytes: Uint8Array, fail: Fail): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw fail('it is not JSON');
  }
}
