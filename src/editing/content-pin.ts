import { findContentCommit, type WantedContent } from '../history/find-content-commit.ts';
import { readContentsAtRefs } from '../history/read-at-commit.ts';
import { isInSync, isSameFileContent } from '../domain/compare-content.ts';
import { type Content, toStoredContent } from '../domain/content.ts';
import { getContentsAtRefs } from '../domain/desired-state.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPinnedContent } from '../domain/pin-target.ts';
import type { ObservedPromptPlan } from '../domain/plan.ts';
import { findPin, formatPin, locatePin, type PromptFile } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { makeDraftWithoutEdits, type PromptDraft } from './edit-files.ts';
import { draftWrittenPin } from './pin-edit.ts';
import type { PlannedWorkspace } from '../run/run-with-plan.ts';

/** Wanted content, with a description for a message, such as `the text that "staging" serves (v7)`. */
export type DescribedContent = WantedContent & { readonly description: string };

/** The content that a file pins for an environment of another configuration. */
type OtherContent = DescribedContent & { readonly content: Content };

/** Makes wanted content from a version. A file matches if an environment that serves the version is in sync with it. */
export function wantVersion(version: KnownVersion, { metadata }: ObservedPrompt): WantedContent {
  const isWanted = (content: Content) => isInSync(version, toStoredContent(content, metadata));
  const isExact = (content: Content) => isWanted(content) && content.metadataDigest === version.metadataDigest;
  return { isWanted, isExact };
}

/**
 * Drafts the edit that pins an environment to the commit of the live branch that introduced the wanted content. Such a
 * pin resolves to the same content in every service. Leaves the present pin alone if it already resolves to the content
 * of that commit. The draft is blocked if no commit of the live branch has the content.
 */
export async function draftContentPin(
  environment: string,
  wanted: DescribedContent,
  prompt: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file } = prompt;
  const { repository } = workspace;
  const present = findPresentContent(environment, file, workspace);
  const refuse = (problem: Problem) => makeDraftWithoutEdits(file, 'blocked', [problem]);
  const found = repository === null ? null : await findContentCommit(file, wanted, repository);
  const isMeant = (content: Content): boolean =>
    found === null ? wanted.isWanted(content) : isSameFileContent(content, found.content);
  if (present !== null && isMeant(present)) return makeDraftWithoutEdits(file, 'unchanged');
  if (repository === null) return refuse(makeProblem('git/needs-repository', { what: 'A pin to a commit' }));
  if (found === null) {
    const evidence = { text: wanted.description, isShallow: repository.isShallow };
    return refuse(makeProblem('pin/not-in-git', evidence, { path: file.path }));
  }
  return draftWrittenPin({ environment, value: `git:${found.commit}`, comment: '' }, prompt, workspace);
}

/** Returns null if there is no such pin, or if git does not have the content. */
function findPresentContent(
  environment: string,
  file: PromptFile,
  workspace: Pick<PlannedWorkspace, 'contentsAtRefs'>,
): Content | null {
  const pin = findPin(file.pins, environment)?.pin;
  return pin === undefined ? null : findPinnedContent(pin, file, getContentsAtRefs(workspace, file.id));
}

/**
 * Reads the content that a file pins for an environment of another configuration, from git only. Fails if there is no
 * such pin, or if it names a version that only the other service knows.
 */
export async function readOtherWantedContent(
  environment: string,
  file: PromptFile,
  { repository }: Pick<PlannedWorkspace, 'repository'>,
): Promise<Result<OtherContent>> {
  const environmentPin = findPin(file.otherPins ?? [], environment);
  if (environmentPin === undefined) {
    return makeFailure(makeProblem('promote/source-unclear', { environment, pin: null }, { path: file.path }));
  }
  const { pin } = environmentPin;
  const content = await readContentOfPin({ ...file, pins: [environmentPin] }, repository);
  if (!content.isSuccess) return content;
  const place = locatePin(environmentPin, file);
  if (content.value === null) {
    return makeFailure(makeProblem('promote/source-unclear', { environment, pin: formatPin(pin) }, place));
  }
  const wanted = content.value;
  const isExact = (other: Content) => isSameFileContent(other, wanted);
  const description = `the text that the file pins in "${environment}" (${formatPin(pin)})`;
  return makeSuccess({ content: wanted, isWanted: isExact, isExact, description });
}

/** Reads the content that the file's single pin refers to. Returns null if only the service has the content. */
async function readContentOfPin(
  file: PromptFile,
  repository: PlannedWorkspace['repository'],
): Promise<Result<Content | null>> {
  const atRefs = getContentsAtRefs({ contentsAtRefs: await readContentsAtRefs([file], repository) }, file.id);
  const failure = [...atRefs.values()].find((at) => !at.isSuccess);
  if (failure !== undefined && !failure.isSuccess) return failure;
  const [pin] = file.pins;
  return makeSuccess(pin === undefined ? null : findPinnedContent(pin.pin, file, atRefs));
}
