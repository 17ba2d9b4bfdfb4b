import { makeProblem, type Problem } from '../problem.ts';
import { type Report, ReportShape } from './schema.ts';

export type ParsedReport = { readonly report: Report | null; readonly problems: readonly Problem[] };

/** Reads the text of a JSON report; it may have been written by anybody. */
export function parseReport(text: string, path: string): ParsedReport {
  const refused = (problem: Problem): ParsedReport => ({ report: null, problems: [{ ...problem, path }] });
  const read = parseJson(text);
  if (read === null) return refused(makeProblem('merge/not-json'));
  const version = versionOf(read.value);
  if (version !== 1 && version !== null) return refused(makeProblem('merge/other-schema', { version, known: 1 }));
  const parsed = ReportShape.safeParse(read.value);
  if (parsed.success) return { report: parsed.data, problems: [] };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'the report';
  return refused(makeProblem('merge/not-a-report', { where, reason: issue?.message ?? '' }));
}

/** What the parser says is left out: it quotes the file, which may be another one than was meant. */
function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

function versionOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('schema_version' in value)) return null;
  return typeof value.schema_version === 'number' ? value.schema_version : null;
}
