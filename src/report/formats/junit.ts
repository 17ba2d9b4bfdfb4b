import { isError } from '../../problem.ts';
import { escapeLine, escapeXml } from '../escape.ts';
import { renderProblem, findSharedProblems } from '../problem-list.ts';
import type { Report, ReportProblem, ReportPrompt } from '../schema/report-schema.ts';
import { PLAIN_STYLE } from '../output-style.ts';
import { describeStatus, hasFailed } from '../describe-report.ts';

/** A JUnit test case. Its message and its failures are already escaped for XML. */
type TestCase = {
  /** The name of the test case, not yet escaped for XML. */
  readonly name: string;
  /** The path of the file, not yet escaped for XML. Empty if the test case does not belong to a file. */
  readonly file: string;
  /** The first line of the first failure, truncated. Empty if the test passes. */
  readonly message: string;
  /** The problems as in the text report, then the status of the prompt if it failed. Empty if the test passes. */
  readonly failures: readonly string[];
};

/**
 * Renders a test case for each prompt file, each other file with errors, and each error of the whole run. Each is named
 * after its path, because the key of an invalid file is unknown. Warnings are omitted, because they do not fail a test.
 */
export function renderJunit(report: Report, title: string): string {
  const cases = makeNamesUnique([...makePromptCases(report), ...makeOtherCases(report)]);
  const failing = cases.filter(({ failures }) => failures.length > 0).length;
  const counts = `tests="${cases.length}" failures="${failing}" errors="0" skipped="0" time="0"`;
  const open = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="promptsync" ${counts}>\n`;
  const suite = `<testsuite name="promptsync ${title}" ${counts}>\n`;
  return `${open}${suite}${cases.map(renderTestCase).join('')}</testsuite>\n</testsuites>\n`;
}

/** Makes a case for each prompt file, with its errors and the errors of the whole run that refer to the file. */
function makePromptCases({ mode, prompts, problems }: Report): readonly TestCase[] {
  const runProblemsByPath = Map.groupBy(problems, ({ path }) => path);
  return prompts.map((prompt) => {
    const { path, key } = prompt;
    const errors = [...prompt.problems, ...(runProblemsByPath.get(path) ?? [])].filter(isError);
    const placed = errors.map((problem) => ({ ...problem, path: problem.path ?? (path || undefined) }));
    return makeTestCase(path || key, path, placed, describeFailedStatus(prompt, mode));
  });
}

/** Returns the status of a prompt as a failure, or nothing if the prompt is neither blocked nor failed. */
function describeFailedStatus(prompt: ReportPrompt, mode: Report['mode']): readonly string[] {
  const { key, status } = prompt;
  return status === 'blocked' || hasFailed(prompt, mode) ? [`${escapeLine(key)}: ${describeStatus(status)}`] : [];
}

/** Makes cases for errors that belong to no prompt file or to several, named by path or by problem code. */
function makeOtherCases({ prompts, problems }: Report): readonly TestCase[] {
  const paths = new Set<string | undefined>(prompts.map(({ path }) => path));
  const others = [...problems.filter(({ path }) => !paths.has(path)), ...findSharedProblems(prompts)].filter(isError);
  const groups = Map.groupBy(others, ({ path, code }) => path ?? code);
  return [...groups].map(([name, errors]) => makeTestCase(name, errors[0]?.path ?? '', errors, []));
}

function makeTestCase(
  name: string,
  file: string,
  problems: readonly ReportProblem[],
  status: readonly string[],
): TestCase {
  const failures = [...problems.map((problem) => renderProblem(problem, PLAIN_STYLE)), ...status];
  const message = (failures[0] ?? '').split('\n', 1).join('').slice(0, 200);
  return { name, file, message: escapeXml(message), failures: failures.map(escapeXml) };
}

/** Numbers repeated names, because GitLab reads only the first. Compares them as escaped, when they can be equal. */
function makeNamesUnique(cases: readonly TestCase[]): readonly TestCase[] {
  const taken = new Set<string>();
  return cases.map((testCase, index) => {
    const escaped = escapeLine(testCase.name);
    const name = taken.has(escaped) ? `${escaped} (case ${index + 1})` : escaped;
    taken.add(name);
    return { ...testCase, name };
  });
}

function renderTestCase({ name, file, message, failures }: TestCase): string {
  const path = file === '' ? '' : ` file="${escapeXml(escapeLine(file))}"`;
  const open = `<testcase classname="promptsync" name="${escapeXml(name)}"${path} time="0"`;
  if (failures.length === 0) return `${open}/>\n`;
  return `${open}>\n<failure message="${message}">${failures.join('\n')}</failure>\n</testcase>\n`;
}
