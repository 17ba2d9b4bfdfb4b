import type { Config } from '../../workspace/config.ts';
import { getProviderWords } from '../../workspace/service-settings.ts';
import type { Workspace } from '../../desired-state/open-workspace.ts';
import { DOCTOR_ENVIRONMENT } from '../../conformance/requirements.ts';
import {
  type DoctorPoint,
  type DoctorSection,
  makeErrorPoint,
  makeOkPoint,
  makeProblemPoint,
  makeUncheckedPoint,
} from '../../domain/doctor-point.ts';
import { PLACEHOLDER_ID } from '../../domain/prompt-file.ts';
import type { FileRules } from '../../providers/provider-interface.ts';
import { isContinuousIntegration, type System } from '../../domain/system.ts';
import { toProblem, wordProblem } from '../../problem.ts';
import { CONFORMANCE_CHECKS } from '../../conformance/checks-by-provider.ts';
import { prepareService, type ServiceOptions } from '../../run/open-service.ts';

export type ConformanceOptions = {
  /** The id of the throwaway prompt. Undefined if the user did not specify it. */
  readonly prompt: string | undefined;
  /** Whether to write without asking for confirmation. */
  readonly yes: boolean;
};

/** The name of the point that shows whether the check ran, and with which prompt. */
const CHECK = 'conformance check';

/**
 * Checks whether the service behaves as promptsync requires. Writes to the service, but only if the user confirms and
 * the prompt is a throwaway prompt. `mayWrite` is false if another section found an error that would break the check.
 */
export async function examineConformance(
  mayWrite: boolean,
  options: ConformanceOptions & ServiceOptions,
  workspace: Workspace,
  system: System,
): Promise<readonly DoctorSection[]> {
  const points = await makeConformancePoints(mayWrite, options, workspace, system);
  return [{ title: `Behavior of ${getProviderWords(workspace.config).service}`, points }];
}

async function makeConformancePoints(
  mayWrite: boolean,
  options: ConformanceOptions & ServiceOptions,
  { config, allFiles }: Workspace,
  system: System,
): Promise<readonly DoctorPoint[]> {
  const words = getProviderWords(config);
  if (config === null || !mayWrite) {
    const reason = `the checks of the configuration, the prompt files, or ${words.service} found errors`;
    return [makeUncheckedPoint(CHECK, reason)];
  }
  const obstacle = findObstacle(options.prompt, config, allFiles) ?? (await findRefusal(options, config, system));
  if (obstacle !== null) return [obstacle];
  try {
    return await runCheck(options, { config, allFiles }, system);
  } catch (error) {
    return [makeProblemPoint(CHECK, wordProblem(toProblem(error), words))];
  }
}

type ConformanceWorkspace = Pick<Workspace, 'allFiles'> & { readonly config: Config };

async function runCheck(
  { prompt, onCall }: ConformanceOptions & ServiceOptions,
  { config, allFiles }: ConformanceWorkspace,
  system: System,
): Promise<readonly DoctorPoint[]> {
  const request = { config, files: allFiles, allFiles, repository: null };
  const prepared = await prepareService(request, system, { onCall });
  if (!prepared.isSuccess) {
    const words = getProviderWords(config);
    return prepared.problems.map((problem) => makeProblemPoint(CHECK, wordProblem(problem, words)));
  }
  const { opening, close } = prepared.value;
  try {
    const points = await CONFORMANCE_CHECKS[config.provider](opening, {
      promptId: prompt ?? null,
      otherPromptIds: allFiles.map(({ id }) => id).filter((id) => id !== PLACEHOLDER_ID),
      runId: makeRunId(system),
    });
    return [makeOkPoint(CHECK, describeScope(prompt)), ...points];
  } finally {
    await close();
  }
}

function describeScope(prompt: string | undefined): string {
  return prompt === undefined ? 'with its own prompt' : `with the prompt "${prompt}"`;
}

/** Returns a string of eight lower-case letters and digits that is unique to this run. */
function makeRunId({ makeUniqueId }: System): string {
  return makeUniqueId()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(-8);
}

/** Returns an error if `--prompt` is missing, does not apply, or specifies an unsuitable prompt. */
function findObstacle(prompt: string | undefined, config: Config, files: Workspace['allFiles']): DoctorPoint | null {
  const { rules } = config;
  const { service } = getProviderWords(config);
  if (createsOwnPrompt(rules)) {
    if (prompt === undefined) return null;
    const found = `\`--prompt\` does not apply because the check creates its own prompt in ${service}`;
    return makeErrorPoint(CHECK, found, 'Run the command again without `--prompt`.');
  }
  if (prompt === undefined) {
    const hint = `In ${service}, create a prompt that no application reads. Then specify its id: \`promptsync doctor --write --prompt ID\``;
    return makeErrorPoint(CHECK, 'the check needs a prompt that it can create versions of', hint);
  }
  const fault = rules.findIdFault(prompt);
  if (fault !== null) return makeErrorPoint(CHECK, `the id in \`--prompt\` is not valid: ${fault}`, 'Check the id.');
  const file = files.find(({ id }) => id.normalize('NFC') === prompt.normalize('NFC'));
  if (file === undefined) return null;
  const hint = 'Specify a prompt that has no prompt file and that no application reads.';
  return makeErrorPoint(CHECK, `the prompt "${prompt}" has a file: ${file.path}`, hint);
}

/** Returns true if the check creates its own prompt, as it does in every service in which it can create prompts. */
function createsOwnPrompt({ placeholderId }: FileRules): boolean {
  return placeholderId === null;
}

/** Asks the user for confirmation. Returns an error if the user declines, or if there is no terminal. */
async function findRefusal(
  { yes, prompt }: ConformanceOptions,
  config: Config,
  system: System,
): Promise<DoctorPoint | null> {
  if (yes || isContinuousIntegration(system)) return null;
  if (system.confirm === null) {
    const found = 'promptsync made no changes because it could not ask for confirmation without a terminal';
    return makeErrorPoint(CHECK, found, 'To write without confirmation, use `--yes` or set `CI=true`.');
  }
  const { service, environment } = getProviderWords(config);
  const question = createsOwnPrompt(config.rules)
    ? 'Create a prompt and delete it afterward?'
    : `Create versions of the prompt "${prompt}" and activate them in its "${DOCTOR_ENVIRONMENT}" ${environment}?`;
  if (await system.confirm(question)) return null;
  const hint = `To let promptsync test how ${service} handles this, run the command again and answer \`yes\`.`;
  return makeErrorPoint(CHECK, 'promptsync made no changes because you did not confirm them', hint);
}
