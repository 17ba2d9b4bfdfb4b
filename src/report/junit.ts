import { isError } from '../problem.ts';
import { escapeLine, escapeXml } from './escape.ts';
import { renderProblem, findSharedProblems } from './problems.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';
import { PLAIN_STYLE } from './style.ts';
import { describeStatus, hasFailed } from './describe.ts';

/** The maximum size of a JUnit file, in bytes. GitLab rejects files of 30 MB or more. */
const MAX_JUNIT_BYTES = 30_000_000;
/**
 * The maximum size of the text in one test case, in bytes. XML parsers such as libxml2 reject text nodes of more than
 * 10 MB.
 */
const MAX_CASE_TEXT_BYTES = 1_000_000;

/** A JUnit test case. Its message and its failures are already escaped for XML. */
type TestCase = {
  /** The name of the test case, not yet escaped for XML. */
  readonly name: string;
  /** The path of the file, not yet escaped for XML. Empty if the test case does not belong to a file. */
  readonly file: string;
  /** The first line of the first failure, truncated. Empty if the test passes. */
  readonly message: string;
  /**
   * The problems as worded in the text report, followed by the status of the prompt if it failed. Empty if the test
   * passes.
   */
  readonly failures: readonly string[];
};

/**
 * Renders the report as JUnit XML that ends with a line feed. Each prompt file is a test case. Other files with errors,
 * and errors of the whole run, become additional test cases. A test case is named after the path of its file, because
 * the key of an invalid file is unknown. Warnings are omitted, because they do not fail a test.
 * @param title the subject of the report, for example `plan`
 */
export function renderJunit(report: Report, title: string): string {
  const cases = makeNamesUnique([...makePromptCases(report), ...makeOtherCases(report)]);
  const failing = cases.filter(({ failures }) => failures.length > 0).length;
  const counts = `tests="${cases.length}" failures="${failing}" errors="0" skipped="0" time="0"`;
  const open = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="promptsync" ${counts}>\n`;
  const suite = `<testsuite name="promptsync ${title}" ${counts}>\n`;
  return `${open}${suite}${fitCases(cases, MAX_JUNIT_BYTES - 1000).join('')}</testsuite>\n</testsuites>\n`;
}

/**
 * Creates a test case for each prompt file. It contains the errors of the prompt, and the errors of the whole run that
 * refer to the file.
 */
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

/**
 * Creates test cases for errors that do not belong to a single prompt file. They include errors that several prompts
 * share. A test case is named after the path of its file, or after the problem code if there is no path.
 */
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

/**
 * Adds a number to each repeated name, because GitLab reads only the first of several test cases with the same name.
 * Compares escaped names, because two different names can become identical when they are escaped.
 */
function makeNamesUnique(cases: readonly TestCase[]): readonly TestCase[] {
  const taken = new Set<string>();
  return cases.map((testCase, index) => {
    const escaped = escapeLine(testCase.name);
    const name = taken.has(escaped) ? `${escaped} (case ${index + 1})` : escaped;
    taken.add(name);
    return { ...testCase, name };
  });
}

const OMITTED_NOTE = 'More problems do not fit. A JUnit report is limited to 30 MB, and to 1 MB for each test.';

/**
 * Renders all test cases. Includes as many failures as fit into `maxBytes` bytes in total. If some failures of a test
 * case do not fit, one note replaces them.
 */
function fitCases(cases: readonly TestCase[], maxBytes: number): readonly string[] {
  const shortest = cases.map((testCase) => {
    return renderTestCase(testCase, testCase.failures.length === 0 ? [] : [OMITTED_NOTE]);
  });
  let room = maxBytes - shortest.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return cases.map((testCase) => {
    const kept = keepFittingTexts(testCase.failures, Math.min(room, MAX_CASE_TEXT_BYTES));
    room -= kept.reduce((sum, text) => sum + measureText(text), 0);
    return renderTestCase(testCase, kept.length < testCase.failures.length ? [...kept, OMITTED_NOTE] : kept);
  });
}

/** Returns the texts that fit into `maxBytes` bytes in total. A text that does not fit does not exclude later texts. */
function keepFittingTexts(texts: readonly string[], maxBytes: number): readonly string[] {
  let left = maxBytes;
  return texts.filter((text) => {
    const fits = measureText(text) <= left;
    if (fits) left -= measureText(text);
    return fits;
  });
}

/** Returns the size of a text and the line feed after it, in bytes. */
function measureText(text: string): number {
  return Buffer.byteLength(text) + 1;
}

/** @param failures the failures to show; empty if the test passes */
function renderTestCase({ name, file, message }: TestCase, failures: readonly string[]): string {
  const path = file === '' ? '' : ` file="${escapeXml(escapeLine(file))}"`;
  const open = `<testcase classname="promptsync" name="${escapeXml(name)}"${path} time="0"`;
  if (failures.length === 0) return `${open}/>\n`;
  return `${open}>\n<failure message="${message}">${failures.join('\n')}</failure>\n</testcase>\n`;
}
