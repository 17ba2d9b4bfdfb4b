import type { Config } from '../workspace/config.ts';
import { readContentsAtRefs } from '../history/read-at-commit.ts';
import type { FileEdit } from '../domain/edits.ts';
import {
  findPinnedVersion,
  type KnownVersion,
  makeWrittenPin,
  type NewPin,
  type WrittenPin,
} from '../domain/versions.ts';
import type { ObservedPromptPlan } from '../domain/plan.ts';
import type { PlannedTextChange } from '../domain/text-changes.ts';
import { type Pin, findPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import { hasControlCharacters } from '../text.ts';
import type { FrontMatterEdit } from './edit-prompt-file.ts';
import { collectTextChanges } from '../planning/collect-text-changes.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { type PromptDraft, draftEdits, makeDraftWithoutEdits } from './edit-files.ts';
import { makeUnknownEnvironmentProblem } from '../run/require-environment.ts';
import { replanPrompt, type PlannedWorkspace } from '../run/run-with-plan.ts';

export type RequestedPin = { readonly environment: string; readonly version: KnownVersion };

/** Drafts a pin to a version by its number or id. Leaves the file alone if it already pins the version. */
export async function draftPinEdit(
  { environment, version }: RequestedPin,
  prompt: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file } = prompt;
  const before = findPin(file.pins, environment)?.pin ?? null;
  if (before !== null && findPinnedVersion([version], before) !== undefined) {
    return makeDraftWithoutEdits(file, 'unchanged');
  }
  return draftWrittenPin({ environment, ...makeNumberedPin(version) }, prompt, workspace);
}

/**
 * Drafts a pin for one environment, and plans a sync of the edited file. The draft is blocked if that sync would refuse
 * the pin, and otherwise shows the text that the environment would serve. Leaves the file alone if it has the pin.
 */
export async function draftWrittenPin(
  pin: PinToWrite,
  prompt: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file } = prompt;
  const { environment } = pin;
  const before = findPin(file.pins, environment)?.pin ?? null;
  if (before !== null && formatPin(before) === String(pin.value)) return makeDraftWithoutEdits(file, 'unchanged');
  const { edit: pinEdit, change } = makeWrittenPinEdit(pin, before);
  const edit = { ...pinEdit, active: findServedVersion(prompt, environment) };
  const draft = await draftEdits(file, [edit], { frontMatter: [change] }, workspace);
  const edited = draft.change?.file ?? null;
  if (edited === null) return draft;
  const { problems, serves } = await planEditedFile(edited, environment, prompt, workspace);
  const isRefused = problems.some(isError);
  const edits = serves === null ? draft.edits : [{ ...edit, serves }];
  return {
    ...draft,
    edits,
    problems,
    status: isRefused ? 'blocked' : 'pending',
    change: isRefused ? null : draft.change,
  };
}

/** A pin to write, and the number of its version if the pin names a version by its id. */
type PinToWrite = NewPin & { readonly versionNumber?: number };

function makeNumberedPin(version: KnownVersion): WrittenPin & Pick<PinToWrite, 'versionNumber'> {
  const pin = makeWrittenPin(version);
  return pin.comment === '' ? pin : { ...pin, versionNumber: version.number };
}

/** The edit of one pin: `edit` for the report, and `change` for the front matter of the file. */
export type PinEdit = {
  readonly edit: Extract<FileEdit, { readonly kind: 'set-pin' }>;
  readonly change: FrontMatterEdit;
};

/** @param before null if the file does not pin the environment */
export function makePinEdit({ environment, version }: RequestedPin, before: Pin | null): PinEdit {
  return makeWrittenPinEdit({ environment, ...makeNumberedPin(version) }, before);
}

function makeWrittenPinEdit({ environment, value, comment, versionNumber }: PinToWrite, before: Pin | null): PinEdit {
  return {
    edit: {
      kind: 'set-pin',
      environment,
      before: before && formatPin(before),
      after: String(value),
      ...(versionNumber !== undefined && { versionNumber }),
    },
    change: { path: ['pins', environment], value, comment },
  };
}

/** The effect that a sync of the edited file would have on one environment. */
type EditedPlan = {
  /** The problems of the pin. If one of them is an error, a sync would refuse the pin. */
  readonly problems: readonly Problem[];
  /** The prompt text before and after the sync. Null if the environment would keep its version. */
  readonly serves: PlannedTextChange | null;
};

/** Plans a sync of the edited file, based on the existing observation of the prompt. */
async function planEditedFile(
  edited: PromptFile,
  environment: string,
  { observed }: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): Promise<EditedPlan> {
  // The edited file may pin a ref that promptsync has not read yet.
  const contentsAtRefs = new Map([
    ...workspace.contentsAtRefs,
    ...(await readContentsAtRefs([edited], workspace.repository)),
  ]);
  const editedWorkspace = { ...workspace, contentsAtRefs };
  const { plan, history } = await replanPrompt(edited, observed, editedWorkspace);
  const pin = findPin(edited.pins, environment);
  const texts = collectTextChanges([plan], editedWorkspace, history).get(edited.id) ?? [];
  return {
    problems: plan.problems.filter(
      ({ line, column }) => pin !== undefined && line === pin.line && column === pin.column,
    ),
    serves: texts.find((text) => text.environment === environment) ?? null,
  };
}

export function findServedVersion({ observed }: ObservedPromptPlan, environment: string): KnownVersion | null {
  return observed.active.get(environment) ?? null;
}

type KnownEnvironments = Pick<Config, 'environments' | 'otherEnvironments' | 'rules'>;

/** Validates an environment name from a flag such as `--to`. Rejects the environments that belong to promptsync. */
export function checkEnvironmentFlag(
  option: string,
  environment: string,
  config: KnownEnvironments,
): readonly Problem[] {
  if (config.rules.reservedEnvironments.includes(environment)) {
    return [makeProblem('prompt/tool-environment', { environment })];
  }
  return checkEnvironmentExists(option, environment, config);
}

/** Validates an environment that a command only reads, including those that belong to promptsync. */
export function checkEnvironmentExists(
  option: string,
  environment: string,
  config: KnownEnvironments,
): readonly Problem[] {
  const known = config.environments?.map(({ name }) => name) ?? null;
  const isOther = config.otherEnvironments.includes(environment);
  const { findEnvironmentFault } = config.rules;
  const isValidName =
    environment !== '' && !hasControlCharacters(environment) && findEnvironmentFault(environment) === null;
  if (!isOther && (known === null ? isValidName : known.includes(environment))) return [];
  return [makeUnknownEnvironmentProblem(option, environment, known ?? [], config)];
}

/** Returns the pinned environment and its promotion source, unless another configuration manages the source. */
export function listEnvironmentsToRead(environment: string, config: KnownEnvironments): readonly string[] {
  const source = findPreviousEnvironment(environment, config);
  const isOwnSource = source !== undefined && !config.otherEnvironments.includes(source);
  return isOwnSource ? [source, environment] : [environment];
}

export function findPreviousEnvironment(environment: string, { environments }: KnownEnvironments): string | undefined {
  return environments?.find(({ name }) => name === environment)?.promoteFrom;
}
