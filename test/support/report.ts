import { expect } from 'vitest';
import { ReportShape, type Report } from '../../src/report/schema.ts';

/** Parses a JSON report, which must hold what its shape says and nothing else. */
export function parseReport(json: string): Report {
  const value: unknown = JSON.parse(json);
  const report = ReportShape.parse(value);
  expect(report).toEqual(value);
  return report;
}
