// Issue 59: only find-service-changes.ts, merge-base.ts and pull.ts still use this file.
import type { FormerPin, FormerPinsByEnvironment } from '../domain/history.ts';
import type { Content } from '../domain/content.ts';
import type { Pin, PromptFile } from '../domain/prompt-file.ts';
import { findFileAtCommit, type PromptLocation, type PromptRepository } from '../history/read-at-commit.ts';
import { readLine } from '../history/read-line.ts';

/** A state of a prompt file, with the commit that created this state. */
export type FormerFile = { readonly commit: string; readonly file: PromptFile };

/** Reads the newest states of a prompt file up to a commit, newest first. */
export async function readFormerFiles(
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<readonly FormerFile[]> {
  const { states } = await readLine(prompt, commit, repository, 100);
  return states.flatMap((state) => (state.commit === null ? [] : [{ commit: state.commit, file: state.file }]));
}

/** Collects the pins of former states by environment. Adds the content that each pin refers to, if git has it. */
export async function collectFormerPins(
  states: readonly FormerFile[],
  repository: PromptRepository,
): Promise<FormerPinsByEnvironment> {
  const pins = await Promise.all(
    states.flatMap(({ file }) =>
      file.pins.map(async ({ environment, pin }) => {
        const former: FormerPin = { pin, content: await readPinnedContent(pin, file, repository) };
        return { environment, former };
      }),
    ),
  );
  const byEnvironment = Map.groupBy(pins, ({ environment }) => environment);
  return new Map([...byEnvironment].map(([environment, list]) => [environment, list.map(({ former }) => former)]));
}

async function readPinnedContent(pin: Pin, file: PromptFile, repository: PromptRepository): Promise<Content | null> {
  if (pin.kind === 'latest') return file.content;
  if (pin.kind !== 'git') return null;
  const pinned = await repository.resolvePinnedRef(pin.ref, repository.branch);
  if (pinned.kind !== 'found') return null;
  const result = await findFileAtCommit(file, pinned.commit, repository);
  return result.kind === 'found' ? result.file.content : null;
}
