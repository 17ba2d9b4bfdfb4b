import { posix } from 'node:path';
import type { Config } from '../workspace/config.ts';
import { getProviderWords } from '../workspace/service-settings.ts';
import { openWorkspace, type Workspace } from '../desired-state/open-workspace.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { PromptType } from '../domain/chat.ts';
import type { EditedPrompt } from '../domain/edits.ts';
import type { Environment } from '../domain/policy.ts';
import type { PromptFile, PromptIdentity } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { System } from '../domain/system.ts';
import type { WorkspaceLock } from '../workspace/lock-workspace.ts';
import { makeFilePath, type NewFile, renderNewFile } from '../editing/render-new-file.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { hasControlCharacters, joinQuotedNames } from '../text.ts';
import { findIdentityConflict, findImportObstacle, indexByIdentity } from './import/find-import-conflict.ts';
import { makeImportEdits, resolveImportFolder } from './import/import.ts';
import { checkEnvironmentFlag } from '../editing/pin-edit.ts';
import { listKnownEnvironments } from '../run/require-environment.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from '../run/command-result.ts';
import { makeCommandResult } from '../run/exit-code.ts';
import { withWorkspaceLock } from '../run/with-workspace-lock.ts';
import { writeNewFile } from './import/write-imports.ts';

type NewOptions = {
  /** The value of `--config`, a path relative to the working directory. */
  readonly config?: string | undefined;
  readonly key: string;
  readonly id?: string | undefined;
  readonly type: PromptType;
  /** The environments to pin to `latest`. If the list is empty, promptsync pins the first configured environment. */
  readonly environments: readonly string[];
  readonly dryRun: boolean;
};

/** Writes the file of a new prompt from a template. Sends no request, and never overwrites a file. */
export async function createPromptFile(options: NewOptions, system: System): Promise<CommandResult> {
  return withWorkspaceLock('new', options, system, async (configuration, lock) => {
    const workspace = await openWorkspace({ configuration, only: [] }, system);
    // The new file may be the first one. Warnings concern the configuration and the existing files.
    const problems = workspace.problems.filter((problem) => isError(problem) && problem.code !== 'prompt/none-found');
    return makeCommandResult(await createInWorkspace({ ...workspace, problems }, options, lock, system), system);
  });
}

async function createInWorkspace(
  { config, files, problems }: Workspace,
  options: NewOptions,
  lock: WorkspaceLock,
  system: System,
): Promise<CommandRun> {
  const makeRun = (...newProblems: readonly Problem[]) =>
    makeRunWithoutPlan('new', {
      config,
      files: [],
      acceptedWarnings: collectAcceptedWarnings([], config),
      problems: [...problems, ...newProblems],
    });
  if (config === null || problems.length > 0) return makeRun();
  const made = await makeNewPrompt(options, files, config);
  if (!made.isSuccess) return makeRun(...made.problems);
  const { prompt, source, warnings, steps, unpinned } = made.value;
  const loss = lock.findLossProblem();
  if (loss !== null) return makeRun(loss);
  const outcome = options.dryRun ? prompt : await writeNewFile(prompt.path, source, config, system.stopSignal);
  if (outcome.problems.length > 0) return makeRun(...outcome.problems);
  if (unpinned.length > 0) system.printNotice(describeUnpinned(unpinned));
  const edited = [{ ...prompt, status: outcome.status }];
  return { ...makeRun(...warnings), edited, ...(!options.dryRun && { nextSteps: steps }) };
}

type NewPromptFile = {
  readonly prompt: EditedPrompt;
  readonly source: string;
  readonly warnings: readonly Problem[];
  /** The steps that remain for the user after promptsync has written the file. */
  readonly steps: readonly string[];
  /** The names of the requested environments that the file does not pin. */
  readonly unpinned: readonly string[];
};

/** Prepares the new file. Fails if an option is invalid, or if the id, the key or the path is already taken. */
async function makeNewPrompt(
  options: NewOptions,
  files: readonly PromptFile[],
  config: Config,
): Promise<Result<NewPromptFile>> {
  const { key, type } = options;
  const { rules } = config;
  const environments = chooseEnvironments(options.environments, files, config);
  if (!environments.isSuccess) return environments;
  const folder = resolveImportFolder(config, undefined);
  if (!folder.isSuccess) return folder;
  const { id = makeDefaultId(key, config) } = options;
  const optionProblems = checkOptions({ ...options, id }, folder.value, config);
  if (optionProblems.length > 0) return makeFailure(...optionProblems);
  const [pinned, unpinned] = splitByLatest(environments.value);
  if (pinned.length === 0) return makeFailure(makeProblem('new/latest-not-allowed', { environments: unpinned }));
  const identity = { path: posix.join(folder.value, makeFilePath(key, id)), id, key, type };
  const pins = pinned.map((environment) => ({ environment, value: 'latest', comment: '' }));
  const name = rules.placeholderId === null ? undefined : makeDisplayName(key);
  const content = { type, text: TEMPLATES[type], metadata: undefined };
  const newFile: NewFile = { ...identity, name, description: '', content, pins };
  const { source, problems } = renderNewFile(newFile, config);
  if (source === null) return makeFailure(...problems.map(({ message }) => makeUsageProblem(message)));
  const obstacle =
    findTakenName(identity, files, config) ??
    findIdentityConflict(identity, indexByIdentity(files)) ??
    (await findImportObstacle(identity.path, { config, folder: folder.value }));
  if (obstacle !== null) return makeFailure(obstacle);
  const prompt: EditedPrompt = { ...identity, status: 'pending', edits: makeImportEdits({ pins }), problems: [] };
  const placeholder = problems.find(({ code }) => code === 'prompt/placeholder-id');
  const steps = [...describeMissingId(placeholder, config), EDIT_STEP];
  const warnings = problems.filter((problem) => problem !== placeholder);
  return makeSuccess({ prompt, source, warnings, steps, unpinned });
}

/**
 * Returns the environments to pin, in promotion order: those from `--environment`, or else the first configured one.
 * Fails if the configuration lists no environments and the user named none, or if a name is unknown.
 */
function chooseEnvironments(
  names: readonly string[],
  files: readonly PromptFile[],
  config: Config,
): Result<readonly Environment[]> {
  const configured = config.environments ?? [];
  const [first] = configured;
  if (names.length === 0) {
    const reason = '`promptsync.yaml` does not define any `environments`';
    const known = listKnownEnvironments(config, files);
    return first === undefined
      ? makeFailure(makeProblem('usage/needs-environment', { option: '--environment', reason, known }))
      : makeSuccess([first]);
  }
  const problems = names.flatMap((name) => checkEnvironmentFlag('--environment', name, config));
  if (problems.length > 0) return makeFailure(...problems);
  if (config.environments !== null) return makeSuccess(configured.filter(({ name }) => names.includes(name)));
  return makeSuccess([...new Set(names)].map((name) => ({ name, allowLatest: true })));
}

function splitByLatest(
  environments: readonly Environment[],
): readonly [pinned: readonly string[], unpinned: readonly string[]] {
  const listNames = (allowed: boolean): readonly string[] =>
    environments.filter(({ allowLatest }) => allowLatest === allowed).map(({ name }) => name);
  return [listNames(true), listNames(false)];
}

/** The embedded service accepts any id, so an id that is made from the key works in the next sync. */
function makeDefaultId(key: string, { rules, service }: Config): string {
  if (service?.kind === 'embedded') return `prm_${key.replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')}`;
  return rules.placeholderId ?? key;
}

function checkOptions({ key, id, type }: NewOptions, folder: string, config: Config): readonly Problem[] {
  const { rules } = config;
  if (!isPlainKey(key)) {
    return [
      makeUsageProblem(
        `The key "${key}" is invalid. A key consists of names separated by single slashes, such as support/greeting. It must not contain control characters, and no name can be "." or "..".`,
      ),
    ];
  }
  if (key.endsWith('.md')) {
    const suggestion = key.slice(key.startsWith(`${folder}/`) ? folder.length + 1 : 0, -'.md'.length);
    return [makeUsageProblem(`\`${key}\` is the path of a file. Specify a key instead, such as \`${suggestion}\`.`)];
  }
  if (!rules.promptTypes.includes(type)) return [makeProblem('prompt/unsupported-type', { type })];
  if (rules.placeholderId !== null || id === key) return [];
  return [
    makeUsageProblem(
      `\`--id\` must be the same as the key because the key is the id of the prompt in ${getProviderWords(config).service}.`,
    ),
  ];
}

/** Returns true if each part can name a file or folder. promptsync removes other parts, which changes the path. */
function isPlainKey(key: string): boolean {
  return !hasControlCharacters(key) && key.split('/').every((part) => !['', '.', '..'].includes(part.trim()));
}

function makeUsageProblem(reason: string): Problem {
  return makeProblem('usage/invalid', { reason });
}

function findTakenName(newFile: PromptIdentity, files: readonly PromptIdentity[], { rules }: Config): Problem | null {
  const { id, key } = newFile;
  const isSame = (one: string, other: string): boolean => one.normalize('NFC') === other.normalize('NFC');
  const sameKey = files.find((file) => isSame(file.key, key));
  if (sameKey !== undefined) return makeProblem('new/taken', { what: 'key', value: key, other: sameKey.path });
  const sameId = files.find((file) => isSame(file.id, id));
  if (sameId === undefined) return null;
  // If a sync can create prompts in the service, the key is also the id, so another id requires another key.
  const what = rules.placeholderId === null ? 'key' : 'id';
  return makeProblem('new/taken', { what, value: id, other: sameId.path });
}

/** Returns a display name such as `Refund policy` for the key `support/refund-policy`. */
function makeDisplayName(key: string): string {
  const name = (key.split('/').at(-1) ?? '').replaceAll(/[-_.\s]+/g, ' ').trim();
  return name === '' ? key : name.charAt(0).toUpperCase() + name.slice(1);
}

const EDIT_STEP = 'Next: edit the text, commit the file, and run promptsync plan.';

/** Says where to create the prompt, and where to write its id. `placeholder` is undefined if the file has an id. */
function describeMissingId(placeholder: Problem | undefined, config: Config): readonly string[] {
  if (placeholder === undefined) return [];
  const { service } = config;
  const address = service?.kind === 'remote' ? ` at ${service.baseUrl}` : '';
  const place = `${placeholder.path}:${placeholder.line}`;
  const create = `Create the prompt in ${getProviderWords(config).service}${address}, then enter its id in ${place}.`;
  return [`${create} Next time, you can pass the id with --id.`];
}

function describeUnpinned(environments: readonly string[]): string {
  return `The file does not pin ${joinQuotedNames(environments, 'or')} because \`promptsync.yaml\` does not allow \`latest\` there. After the first sync, run \`promptsync promote KEY --to NAME\`.`;
}

const TEMPLATES: Readonly<Record<PromptType, string>> = {
  text: 'You are a helpful assistant. Answer the following question in at most three sentences.\n\n{{question}}',
  chat: [
    '{{role "system"}}',
    'You are a helpful assistant. Answer in at most three sentences.',
    '',
    '{{role "user"}}',
    '{{question}}',
  ].join('\n'),
};
