import type { Config } from '../config/config.ts';
import type { FileEdit } from '../domain/edits.ts';
import { findNamed, type KnownVersion, pinTo } from '../domain/versions.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { type Pin, pinText, type PromptFile } from '../domain/prompt-file.ts';
import { suggest } from '../domain/suggest.ts';
import { hasControlCharacters } from '../domain/text.ts';
import type { FrontMatterEdit } from '../files/edit.ts';
import { textsOf } from '../planning/texts.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { type Draft, draftEdits, stays } from './edit-files.ts';
import { planAgain, type Walked } from './walk.ts';

type WantedPin = { readonly environment: string; readonly version: KnownVersion };

/**
 * Pins one environment of a prompt to a version. The edited file is planned for like any other: what a sync would refuse
 * is refused here, and the text that the environment would serve is shown.
 */
export async function draftPin(wanted: WantedPin, prompt: PromptPlan, walked: Walked): Promise<Draft> {
  const { file } = prompt;
  const { environment, version } = wanted;
  const before = file.pins.find((one) => one.environment === environment)?.pin ?? null;
  if (before !== null && findNamed([version], before) !== undefined) return stays(file, 'unchanged');
  const { edit, change } = pinEdit(wanted, before);
  const draft = await draftEdits(file, [edit], { frontMatter: [change] }, walked);
  const edited = draft.change?.file ?? null;
  if (edited === null) return draft;
  const { problems, serves } = await planEdited(edited, environment, prompt, walked);
  const refused = problems.some(isError);
  const edits = serves === null ? draft.edits : [{ ...edit, serves }];
  return { ...draft, edits, problems, status: refused ? 'blocked' : 'pending', change: refused ? null : draft.change };
}

/** An edit of a file, as it is reported and as it is made. */
export type PinEdit = {
  readonly edit: Extract<FileEdit, { readonly kind: 'set-pin' }>;
  readonly change: FrontMatterEdit;
};

/** What pins an environment to a version instead of what it was pinned to; null: it was not. */
export function pinEdit({ environment, version }: WantedPin, before: Pin | null): PinEdit {
  const { value, comment } = pinTo(version);
  return {
    edit: { kind: 'set-pin', environment, before: before && pinText(before), after: String(value) },
    change: { path: ['pins', environment], value, comment },
  };
}

/** What a sync would do in one environment once the file is edited, by what was observed, and why it would refuse. */
async function planEdited(edited: PromptFile, environment: string, { observed }: PromptPlan, walked: Walked) {
  if (observed === null) return { problems: [], serves: null };
  const { plan, history } = await planAgain(edited, observed, walked);
  const pin = edited.pins.find((one) => one.environment === environment);
  const texts = textsOf([plan], walked, history).get(edited.id) ?? [];
  return {
    problems: plan.problems.filter((one) => pin !== undefined && one.line === pin.line && one.column === pin.column),
    serves: texts.find((text) => text.environment === environment) ?? null,
  };
}

/** What an environment serves now; null where nothing is active or nothing was read. */
export function servedIn({ observed }: PromptPlan, environment: string): KnownVersion | null {
  return observed?.active.get(environment) ?? null;
}

type Known = Pick<Config, 'environments' | 'rules'>;

/** What is wrong with an environment that was named on the command line to be pinned. */
export function environmentProblems(option: string, environment: string, config: Known): readonly Problem[] {
  if (config.rules.reserved.includes(environment)) return [makeProblem('prompt/tool-environment', { environment })];
  return unknownEnvironment(option, environment, config);
}

/** What is wrong with an environment that is only asked about. */
export function unknownEnvironment(option: string, environment: string, config: Known): readonly Problem[] {
  const known = config.environments?.map(({ name }) => name) ?? null;
  const { environmentFault } = config.rules;
  const possible = environment !== '' && !hasControlCharacters(environment) && environmentFault(environment) === null;
  if (known === null ? possible : known.includes(environment)) return [];
  const suggestion = suggest(environment, known ?? []);
  return [makeProblem('usage/unknown-environment', { option, environment, known: known ?? [], suggestion })];
}

/** What has to be read to plan for a pin of an environment: itself, and the one that it is promoted from. */
export function readFor(environment: string, config: Known): readonly string[] {
  return [environmentBefore(environment, config), environment].filter((name) => name !== undefined);
}

export function environmentBefore(environment: string, { environments }: Known): string | undefined {
  return environments?.find(({ name }) => name === environment)?.promoteFrom;
}
