import { relative } from 'node:path';
import { getProviderWords } from '../../workspace/service-settings.ts';
import type { Workspace } from '../../desired-state/open-workspace.ts';
import { type DoctorPoint, makeErrorPoint, makeOkPoint, makeWarningPoint } from '../../domain/doctor-point.ts';
import type { System } from '../../domain/system.ts';
import { isError, type Problem, wordProblem } from '../../problem.ts';
import { formatProblemPlace } from '../../report/problem-list.ts';
import { formatCount, joinQuotedNames } from '../../text.ts';
import { addArticle } from '../../service-words.ts';
import { listKnownEnvironments } from '../../run/require-environment.ts';

/** Builds the points about the configuration and the prompt files. Sends no request. */
export function examineWorkspace(workspace: Workspace, system: System): readonly DoctorPoint[] {
  const { config, problems } = workspace;
  if (config === null) return problems.map(makeConfigurationPoint);
  const file = relative(system.workingDirectory, config.file) || config.file;
  return [makeOkPoint('configuration', `"${file}"`), examineFiles(workspace), examineEnvironments(workspace)];
}

function makeConfigurationPoint(problem: Problem): DoctorPoint {
  const { severity: level, message, hint } = problem;
  const place = formatProblemPlace(problem);
  return { name: 'configuration', level, found: place === '' ? message : `${place}: ${message}`, hint };
}

/** Counts the prompt files and their problems. `validate` shows the problems themselves. */
function examineFiles({ config, allFiles, problems: unworded }: Workspace): DoctorPoint {
  const name = 'prompt files';
  const words = getProviderWords(config);
  const problems = unworded.map((problem) => wordProblem(problem, words));
  // No prompt files is only a warning, because users also run doctor before they write or import their first one.
  const missing = problems.find(({ code }) => code === 'prompt/none-found');
  if (missing !== undefined) return makeWarningPoint(name, missing.message, missing.hint);
  const errors = problems.filter(isError);
  const [first] = errors;
  if (first === undefined) {
    const warnings = problems.length;
    const found = formatCount(allFiles.length, 'valid prompt');
    if (warnings === 0) return makeOkPoint(name, found);
    const hint = 'To see the warnings, run `promptsync validate`.';
    return makeWarningPoint(name, `${found}, ${formatCount(warnings, 'warning')}`, hint);
  }
  const found = `${formatCount(errors.length, 'error')}. ${formatProblemPlace(first)}: ${first.message}`;
  const hint = errors.length === 1 ? first.hint : 'To see all errors, run `promptsync validate`. Then fix the errors.';
  return makeErrorPoint(name, found, hint);
}

function examineEnvironments({ config, allFiles }: Workspace): DoctorPoint {
  const name = 'environments';
  const names = config === null ? [] : listKnownEnvironments(config, allFiles);
  if (names.length === 0) {
    const noun = addArticle(getProviderWords(config).environment);
    return makeWarningPoint(name, 'none', `Pin ${noun} in a prompt file, such as \`staging: latest\`.`);
  }
  const source = config?.environments === null ? 'pinned by prompt files' : 'in promotion order';
  return makeOkPoint(name, `${joinQuotedNames(names, 'and')} (${source})`);
}
