import { makeSuccess } from '../../src/domain/result.ts';
import type { ContentsAtRefs } from '../../src/domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../../src/domain/prompt-file.ts';
import type { Line, LineState, Want } from '../../src/history/line-of-states.ts';
import { MAX_DRIFT_STATES, NO_PROMPT_HISTORY, type PromptHistory } from '../../src/history/prompt-history.ts';
import { MAX_STATES } from '../../src/history/read-line-of-states.ts';
import { MOVING_REF } from './commands.ts';
import { type Commit, type Committed, contentsAtTags, findCommitted, head, type History } from './history.ts';

/** The commits of a run: the commit of the planned files, and the base. The newest commit is the tip of the branch. */
export type ComparedCommits = { readonly planned: Commit; readonly base: Commit };

/** Makes the history of a prompt that promptsync would read from the repository. */
export function makePromptHistory(
  history: History,
  file: PromptFile,
  { planned, base }: ComparedCommits,
): PromptHistory {
  const isAfter = (commit: Commit) => (state: LineState) => findIndex(history, state) > commit.index;
  const line = makeLine(history, file, planned, MAX_STATES);
  const lineOfTip = makeLine(history, file, head(history), MAX_DRIFT_STATES);
  const baseHistory = {
    line: makeLine(history, file, base, MAX_DRIFT_STATES),
    headStates: line.states.slice(0, MAX_DRIFT_STATES).filter(isAfter(base)),
    tipStates: lineOfTip.states.filter(isAfter(planned)),
    unmergedCommits: new Set<string>(),
    messageSources: new Map(),
    missingCommits: new Set<string>(),
  };
  const commit = planned.files.get(file.id)?.touchedBy.id;
  const provenance = commit === undefined ? {} : { commit, path: file.path, changeSummary: `Commit ${commit}` };
  const hasBase = findCommitted(base, file) !== undefined;
  return { ...NO_PROMPT_HISTORY, line, base: hasBase ? baseHistory : null, provenance };
}

function findIndex({ commits }: History, state: LineState): number {
  return commits.findIndex(({ id }) => id === state.commit);
}

function makeLine(history: History, file: PromptFile, newest: Commit, limit: number): Line {
  const start = findStartOfFile(history, file, newest);
  const commits = history.commits.slice(start, newest.index + 1).toReversed();
  const all = [...new Set(commits.flatMap((commit) => findCommitted(commit, file) ?? []))];
  const existedBefore = history.commits.slice(0, start).some((commit) => findCommitted(commit, file) !== undefined);
  return {
    states: all.slice(0, limit).map((committed, age) => makeState(history, committed, age === 0)),
    isCut: all.length > limit,
    isComplete: all.length > 0 && all.length <= limit && !existedBefore,
  };
}

/** Returns the index of the first commit since which the file has existed, without a removal or a change of its type. */
export function findStartOfFile({ commits }: History, file: PromptFile, newest: Commit): number {
  const hasFile = (commit: Commit) => findCommitted(commit, file) !== undefined;
  return commits.slice(0, newest.index + 1).findLastIndex((commit) => !hasFile(commit)) + 1;
}

function makeState(history: History, { file, touchedBy }: Committed, isNewest: boolean): LineState {
  const wants = file.pins.flatMap(({ environment, pin }): readonly [string, Want][] => {
    const want = makeWant(history, file, pin);
    const isUnknown = want === null || (want.kind === 'content' && want.isMoving && !isNewest);
    return isUnknown ? [] : [[environment, want]];
  });
  return { commit: touchedBy.id, time: touchedBy.time, file, wants: new Map(wants) };
}

function makeWant(history: History, file: PromptFile, pin: EnvironmentPin['pin']): Want | null {
  if (pin.kind === 'latest') return { kind: 'content', content: file.content, isMoving: false };
  if (pin.kind !== 'git') return pin;
  const at = contentsAtTags(history, file).get(pin.ref);
  return at === undefined ? null : { kind: 'content', content: at.content, isMoving: pin.ref === MOVING_REF };
}

/** Returns the contents at the tags that a file pins, as promptsync reads them. */
export function makeContentsAtRefs(history: History, file: PromptFile): ContentsAtRefs {
  return new Map([...contentsAtTags(history, file)].map(([ref, at]) => [ref, makeSuccess(at)]));
}
