import { isError } from '../problem.ts';
import { escapeLine, escapeXml } from './escape.ts';
import { renderProblem, sharedProblems } from './problems.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';
import { PLAIN } from './style.ts';
import { orphanTexts, statusText } from './words.ts';

/** GitLab reads files of less than 30 MB. */
const MOST_BYTES = 30_000_000;
/** Of one case, in bytes: parsers refuse a text of 10 MB. */
const MOST_TEXT = 1_000_000;

/** A test, escaped but for its name and file. What failed is in whole problems, as the text report has them, then the status. */
type Case = Readonly<Record<'name' | 'file' | 'message', string>> & { readonly failures: readonly string[] };

/**
 * The report as JUnit XML. Each prompt file is a test case, and so is whatever else is wrong: another file, or the run.
 * A case is named by the file's path, and so stays the same test when the file is not valid and its key is not known.
 * Warnings fail no test and are left out. Ends with a line feed.
 * @param title what it is about, such as `plan`
 */
export function renderJunit(report: Report, title: string): string {
  const cases = uniquelyNamed([...promptCases(report), ...otherCases(report)]);
  const failing = cases.filter(({ failures }) => failures.length > 0).length;
  const counts = `tests="${cases.length}" failures="${failing}" errors="0" skipped="0" time="0"`;
  const open = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="promptsync" ${counts}>\n`;
  const suite = `<testsuite name="promptsync ${title}" ${counts}>\n`;
  const orphans = escapeXml(orphanTexts(report, escapeLine).join('\n').slice(0, MOST_TEXT));
  // They fail no test.
  const said = orphans === '' ? '' : `<system-out>Orphans\n${orphans}</system-out>\n`;
  return `${open}${suite}${fittedCases(cases, MOST_BYTES - 1000).join('')}${said}</testsuite>\n</testsuites>\n`;
}

function promptCases({ mode, prompts, problems }: Report): readonly Case[] {
  const ofRun = Map.groupBy(problems, ({ path }) => path);
  return prompts.map((prompt) => {
    const { path, key } = prompt;
    const own = [...prompt.problems, ...(ofRun.get(path) ?? [])].filter(isError);
    const placed = own.map((problem) => ({ ...problem, path: problem.path ?? (path || undefined) }));
    return caseOf(path || key, path, placed, failedText(prompt, mode));
  });
}

/** What only looks at files attempts no prompt. */
function failedText({ key, status }: ReportPrompt, mode: Report['mode']): readonly string[] {
  const fails = status === 'blocked' || status === 'failed' || (status === 'not_attempted' && mode !== 'validate');
  return fails ? [`${escapeLine(key)}: ${statusText(status)}`] : [];
}

/** Files that are no prompts, by path, and what is wrong with the run, by code: what all prompts have is of the run. */
function otherCases({ prompts, problems }: Report): readonly Case[] {
  const paths = new Set<string | undefined>(prompts.map(({ path }) => path));
  const others = [...problems.filter(({ path }) => !paths.has(path)), ...sharedProblems(prompts)].filter(isError);
  const groups = Map.groupBy(others, ({ path, code }) => path ?? code);
  return [...groups].map(([name, all]) => caseOf(name, all[0]?.path ?? '', all));
}

function caseOf(name: string, file: string, problems: readonly ReportProblem[], status: readonly string[] = []): Case {
  const failures = [...problems.map((problem) => renderProblem(problem, PLAIN)), ...status];
  const message = (failures[0] ?? '').split('\n', 1).join('').slice(0, 200);
  return { name, file, message: escapeXml(message), failures: failures.map(escapeXml) };
}

/** Of cases with one name GitLab reads only the first. Two names may look the same once they are escaped. */
function uniquelyNamed(cases: readonly Case[]): readonly Case[] {
  const taken = new Set<string>();
  return cases.map((one, index) => {
    const shown = escapeLine(one.name);
    const name = taken.has(shown) ? `${shown} (case ${index + 1})` : shown;
    taken.add(name);
    return { ...one, name };
  });
}

const LEFT_OUT = 'What else is wrong does not fit: a JUnit report has at most 30 MB, and 1 MB of each test.';

/** Every case, with as many of its failures as there is room for. */
function fittedCases(cases: readonly Case[], most: number): readonly string[] {
  const shortest = cases.map((one) => caseText(one, one.failures.length === 0 ? [] : [LEFT_OUT]));
  let room = most - shortest.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return cases.map((one) => {
    let left = Math.min(room, MOST_TEXT);
    const kept = one.failures.filter((text) => {
      const size = Buffer.byteLength(text) + 1;
      if (size > left) return false;
      left -= size;
      room -= size;
      return true;
    });
    return caseText(one, kept.length < one.failures.length ? [...kept, LEFT_OUT] : kept);
  });
}

function caseText({ name, file, message }: Case, shown: readonly string[]): string {
  const path = file === '' ? '' : ` file="${escapeXml(escapeLine(file))}"`;
  const open = `<testcase classname="promptsync" name="${escapeXml(name)}"${path} time="0"`;
  if (shown.length === 0) return `${open}/>\n`;
  return `${open}>\n<failure message="${message}">${shown.join('\n')}</failure>\n</testcase>\n`;
}
