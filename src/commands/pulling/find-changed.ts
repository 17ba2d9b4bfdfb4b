import type { PromptPlan } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { Side } from '../../files/merge.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { pinsOf, readFormerFiles, type FormerFile } from '../past/former-pins.ts';
import { findOutsideEdits, type OutsideEdit } from './outside-edits.ts';
import type { PinEdit } from '../editing/pin-edit.ts';
import { contestedProblem, isContested, pinServed } from './outside-pins.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';

type Asked = {
  /** By default all that the file pins. */
  readonly environment?: string | undefined;
  readonly side: Side;
};

/** What was changed in the service. */
export type Changed = {
  /** The states of the file in git, newest first. */
  readonly earlier: readonly FormerFile[];
  readonly environments: readonly OutsideEdit[];
  /** Those of which the text is to be taken over, one for each text. */
  readonly edits: readonly OutsideEdit[];
  /** Those of which the file may mean its pin all the same. */
  readonly contested: readonly OutsideEdit[];
};

/** Which environments somebody has changed in the service, after what git knows of the file. */
export async function findChanged(
  prompt: PromptPlan,
  { environment }: Asked,
  { repository }: Prepared,
): Promise<Changed> {
  const { file } = prompt;
  const head = repository?.head ?? null;
  const earlier = repository === null || head === null ? [] : await readFormerFiles(file, head, repository);
  const environments = findOutsideEdits(prompt, environment, await pinsOf(earlier, repository));
  const complete = (await repository?.isShallow()) === false;
  const contested = environments.filter((one) => isContested(one, { earlier, complete }));
  return { earlier, environments, edits: distinctTexts(environments, file), contested };
}

/** Why nobody but the user can say what is to be done. */
export function obstaclesIn({ edits, contested }: Changed, file: PromptFile, { side }: Asked): readonly Problem[] {
  const environments = edits.map(({ environment }) => environment);
  return [
    ...(edits.length < 2 ? [] : [makeProblem('pull/several', { environments }, { path: file.path })]),
    ...(side === null ? contested.map((one) => contestedProblem(one, file)) : []),
  ];
}

/** The pins to write: with `--ours`, a contested one stays. */
export function pinEdits({ environments, contested }: Changed, { side }: Asked): readonly PinEdit[] {
  return environments.filter((one) => side !== 'ours' || !contested.includes(one)).flatMap(pinServed);
}

/** Whether nothing was changed. Most prompts are so, and git need not be asked for their history. */
export function isInSync(prompt: PromptPlan, { environment }: Asked): boolean {
  const renamed = prompt.changes.some(({ kind }) => kind === 'update-prompt');
  return !renamed && findOutsideEdits(prompt, environment, new Map()).length === 0;
}

/** One environment for each text that somebody else has made, with its metadata where the file manages any. */
function distinctTexts(found: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managed = content.metadata !== undefined;
  const contentOf = ({ version }: OutsideEdit) => `${version.digest} ${managed ? version.metadataDigest : ''}`;
  return [...new Map(found.flatMap((one) => (one.own ? [] : [[contentOf(one), one] as const]))).values()];
}
