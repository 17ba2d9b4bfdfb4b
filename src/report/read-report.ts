import { resolve } from 'node:path';
import { type FileRead, NOT_REGULAR, readBytes } from '../workspace/read-write-files.ts';
import { makeProblem, ProblemError, describeSystemError } from '../problem.ts';
import { ReportShape, type Report } from './schema/report-schema.ts';
import { formatNumber } from '../text.ts';

const MAX_REPORT_BYTES = 64 * 1024 * 1024;

/**
 * Reads a JSON report. `file` is relative to the working directory. Throws a `ProblemError` if the file cannot be read,
 * is larger than 64 MiB or does not match the report schema of this version of promptsync.
 */
export function readReport(file: string, workingDirectory: string): Report {
  const makeError = (reason: string): ProblemError =>
    new ProblemError(makeProblem('usage/not-a-report', { path: file, reason }));
  const bytes = readReportBytes(resolve(workingDirectory, file), makeError);
  const parsed = ReportShape.safeParse(parseReportJson(bytes, makeError));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const location = issue?.path.join('.') || 'the report';
  throw makeError(`${location}: ${issue?.message ?? 'not valid'}`);
}

type MakeError = (reason: string) => ProblemError;

function readReportBytes(path: string, makeError: MakeError): Uint8Array {
  const file = readOrThrow(path, makeError);
  if (file.kind === 'read') return file.bytes;
  throw makeError(
    file.kind === 'too-large' ? `it is ${formatNumber(file.size)} bytes, but the limit is 64 MiB` : NOT_REGULAR,
  );
}

function readOrThrow(path: string, makeError: MakeError): FileRead {
  try {
    return readBytes(path, MAX_REPORT_BYTES);
  } catch (error) {
    throw makeError(describeSystemError(error));
  }
}

function parseReportJson(bytes: Uint8Array, makeError: MakeError): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw makeError('it is not JSON');
  }
}
