import { type Content, EMPTY_METADATA_DIGEST, makeContent } from '../domain/content.ts';
import { findNamedCommit } from '../domain/commit-message.ts';
import { chooseVersionToCreate, mayGetBaseline } from '../domain/pin-target.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { KnownTip } from '../git/open-repository.ts';
import { countRun, EMPTY_LINE, type Line, type LineState } from '../history/line-of-states.ts';
import {
  type BaseHistory,
  MAX_DRIFT_STATES,
  NO_PLANNING_HISTORY,
  type PlanningHistory,
  type PromptHistory,
} from '../history/prompt-history.ts';
import { type PromptRepository, readSourceFile } from '../history/read-at-commit.ts';
import { FIRST_STATES, MAX_STATES, readPromptLine, readPlannedLine } from '../history/read-line-of-states.ts';
import { readMessageSources } from '../history/read-message-sources.ts';
import { readChangeSummaries, readProvenance } from '../history/read-provenance.ts';
import { isPromotionAllowed, listPlannedPromotions, type Promotion } from '../planning/check-promotions.ts';
import {
  type ComparedPrompt,
  comparePrompt,
  type Difference,
  type EnvironmentDifference,
  wantsCurrent,
} from '../planning/compare-prompt.ts';
import type { BaseFiles, DesiredWorkspace } from './read-desired-state.ts';

type PlanningSources = Pick<
  DesiredWorkspace,
  'repository' | 'contentsAtRefs' | 'promotionSources' | 'otherPromotionSources'
> & {
  /** The base that the user specified, or the default base. Null if there is none. */
  readonly base: Pick<BaseFiles, 'commit' | 'files'> | null;
};

/** A prompt that differs from the service, with those of its promotions that promotion order may refuse. */
type DifferingPrompt = ComparedPrompt & { readonly promotions: readonly Promotion[] };

/** A commit id in a version record, or a shortened one in the message of a version. */
const COMMIT_ID = /^[0-9a-f]{12,64}$/;

/** The commits whose lines decide what has drifted. */
type ComparedCommits = {
  readonly repository: PromptRepository;
  readonly head: string;
  readonly base: NonNullable<PlanningSources['base']>;
  readonly tip: KnownTip | null;
  /** Whether HEAD contains the tip of the live branch. */
  readonly hasTip: boolean;
};

/** Reads nothing for a prompt that is in sync. */
export async function readPlanningHistory(
  files: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  sources: PlanningSources,
): Promise<PlanningHistory> {
  const { repository, base } = sources;
  if (repository === null) return NO_PLANNING_HISTORY;
  const prompts = files.flatMap((file) => {
    const observedPrompt = observed.get(file.id);
    return observedPrompt === undefined ? [] : compareIfDiffering(file, observedPrompt, sources);
  });
  const mayHaveDrifted = prompts.some(({ differences }) => differences.length > 0);
  const commits = mayHaveDrifted ? await findComparedCommits(repository, base) : null;
  const histories = prompts.map(async (prompt): Promise<readonly [string, PromptHistory]> => {
    const { file, head, contentsAtRefs } = prompt;
    const baseHistory =
      commits === null || prompt.differences.length === 0 ? null : await readBaseHistory(prompt, commits);
    const history = {
      line: await readLineOfHead(prompt, repository),
      base: baseHistory,
      provenance: mayCreateVersion(prompt) ? await readProvenance(file, repository) : {},
      changeSummaries: await readChangeSummaries(file, head.targets, contentsAtRefs, repository),
      contents: await readContents(prompt, repository),
      isShallow: repository.isShallow,
    };
    return [file.id, history];
  });
  return new Map(await Promise.all(histories));
}

/** Returns an empty list if the planner needs nothing from git. */
function compareIfDiffering(
  file: PromptFile,
  observed: ObservedPrompt,
  sources: PlanningSources,
): readonly DifferingPrompt[] {
  const compared = comparePrompt(file, observed, sources);
  const { head, differences } = compared;
  if (head.changes.length + differences.length === 0 && !mayGetBaseline(file, observed)) return [];
  const promotions = listPlannedPromotions(head.changes, observed, sources);
  return [{ ...compared, promotions }];
}

/** Returns true if a sync may create a version or a baseline of the file's own content. */
function mayCreateVersion({ file, observed, head: { targets } }: ComparedPrompt): boolean {
  // A run for selected environments may need a baseline even if the plan for all environments has none.
  return chooseVersionToCreate(file, observed, targets) !== null || mayGetBaseline(file, observed);
}

async function findComparedCommits(
  repository: PromptRepository,
  base: PlanningSources['base'],
): Promise<ComparedCommits | null> {
  const { head } = repository;
  if (base === null || head === null) return null;
  const tip = await repository.findKnownTip();
  const hasTip = tip === null || tip.commit === head || (await repository.isSameOrAncestor(tip.commit, head));
  return { repository, head, base, tip, hasTip };
}

/** Reads the newest states, and the others only if needed. `read` takes the maximum number of states to read. */
async function readInSteps(
  read: (limit: number) => Promise<Line>,
  isAnswered: (line: Line) => boolean,
  limit: number,
): Promise<Line> {
  const newest = await read(FIRST_STATES);
  return !newest.isCut || isAnswered(newest) ? newest : read(limit);
}

/** Reads the line up to HEAD, but only if promotion order needs it to allow a promotion of the prompt. */
async function readLineOfHead(
  { file, observed, promotions }: DifferingPrompt,
  repository: PromptRepository,
): Promise<Line> {
  const isAllowed = (line: Line) => promotions.every((promotion) => isPromotionAllowed(promotion, observed, line));
  if (isAllowed(EMPTY_LINE)) return EMPTY_LINE;
  return readInSteps((limit) => readPlannedLine(file, repository, limit), isAllowed, MAX_STATES);
}

/** Returns true if, for every difference, a state wants what the service has, or the service has nothing. */
function explainsAll({ states }: Pick<Line, 'states'>, { differences, observed }: ComparedPrompt): boolean {
  return differences.every((difference) => {
    return isUnserved(difference) || states.some((state) => wantsCurrent(difference, state, observed));
  });
}

/**
 * Returns true if older states of the base's line cannot change the result: a run ends before a state that wanted what
 * the service has. If an environment serves nothing, only the start of the run matters.
 */
function answersAll(line: Line, prompt: ComparedPrompt): boolean {
  const unserved = prompt.differences.filter(isUnserved);
  const areStartsKnown = unserved.every(({ environment }) => countRun(line, environment) < line.states.length);
  return areStartsKnown && explainsAll(line, prompt);
}

function isUnserved(difference: Difference): difference is EnvironmentDifference {
  return difference.subject === 'environment' && difference.current === null;
}

async function readBaseHistory(prompt: ComparedPrompt, commits: ComparedCommits): Promise<BaseHistory | null> {
  const { file, observed } = prompt;
  const { repository, head, base, tip, hasTip } = commits;
  const baseFile = prompt.base?.file;
  if (baseFile === undefined) return null;
  const readBaseLine = (limit: number) => readPromptLine(baseFile, base.commit, repository, limit);
  const readHeadLine = (limit: number) => readPlannedLine(file, repository, limit);
  const readTipLine = (limit: number) => readPromptLine(file, tip?.commit ?? head, repository, limit);
  const [line, headStates, tipStates] = await Promise.all([
    readInSteps(readBaseLine, (newest) => answersAll(newest, prompt), MAX_DRIFT_STATES),
    base.commit === head ? [] : readStatesBeyond(readHeadLine, base.commit, repository),
    hasTip ? [] : readStatesBeyond(readTipLine, head, repository),
  ]);
  const active = [...observed.active.values()].filter((version) => version !== null);
  const isExplained = explainsAll({ states: [...line.states, ...headStates, ...tipStates] }, prompt);
  return {
    line,
    headStates,
    tipStates,
    unmergedCommits: await findUnmergedCommits(line, commits),
    messageSources: await readMessageSources(file, active, repository),
    // If a state wanted what the service has, the clone has the commit that the version was made from.
    missingCommits: isExplained ? new Set() : await findMissingCommits(active, repository),
  };
}

/** Omits the states that are in the history of the given commit. */
async function readStatesBeyond(
  read: (limit: number) => Promise<Line>,
  commit: string,
  repository: PromptRepository,
): Promise<readonly LineState[]> {
  const newest = await read(FIRST_STATES);
  const beyond = await omitContained(newest.states, commit, repository);
  if (!newest.isCut || beyond.length < newest.states.length) return beyond;
  return omitContained((await read(MAX_DRIFT_STATES)).states, commit, repository);
}

async function omitContained(
  states: readonly LineState[],
  commit: string,
  repository: PromptRepository,
): Promise<readonly LineState[]> {
  const areContained = await Promise.all(
    states.map((state) => state.commit !== null && repository.isSameOrAncestor(state.commit, commit)),
  );
  return states.filter((_, index) => areContained[index] === false);
}

/** Returns the commits of the base's line that the tip of the live branch lacks, or all of them if the tip is unknown. */
async function findUnmergedCommits(
  line: Line,
  { repository, base, tip }: ComparedCommits,
): Promise<ReadonlySet<string>> {
  const listCommits = (states: readonly LineState[]) => new Set(states.flatMap(({ commit }) => commit ?? []));
  if (tip === null) return listCommits(line.states);
  if (tip.commit === base.commit) return new Set();
  return listCommits(await omitContained(line.states, tip.commit, repository));
}

/**
 * Returns the commits that versions name as their sources but that the clone lacks. A commit that no ref contains also
 * counts, because `sync` fetches the objects of a newer tip without moving a ref.
 */
async function findMissingCommits(
  versions: readonly KnownVersion[],
  repository: PromptRepository,
): Promise<ReadonlySet<string>> {
  const named = versions.flatMap((version) => findNamedCommit(version) ?? []);
  const commits = [...new Set(named)].filter((commit) => COMMIT_ID.test(commit));
  const checked = commits.map(async (commit): Promise<readonly string[]> => {
    // `resolveRef` would prefer a branch or a tag with the name of a shortened commit id.
    const pinned = await repository.resolvePinnedRef(commit);
    const isMissing =
      pinned.kind === 'found' ? await repository.isUnreferenced(pinned.commit) : pinned.kind === 'unknown';
    return isMissing ? [commit] : [];
  });
  return new Set((await Promise.all(checked)).flat());
}

/**
 * Reads the content of versions that pins would activate but that promptsync has not read from the service. Returns it
 * by version id. Some of it may be missing, because promptsync can show a plan without it.
 */
async function readContents(
  { file, head }: ComparedPrompt,
  repository: PromptRepository,
): Promise<PromptHistory['contents']> {
  const entries = head.targets.map(async (target): Promise<readonly [string, Content][]> => {
    if (target.kind !== 'known' || target.version.content !== null) return [];
    const content = await readContentFromGit(target.version, file, repository);
    return content === null ? [] : [[target.version.id, content]];
  });
  return new Map((await Promise.all(entries)).flat());
}

/**
 * First checks the commit that the version records as its source, and then the other states of the file. Returns null
 * if none of them has the same text. Omits the metadata if nothing shows it.
 */
export async function readContentFromGit(
  version: KnownVersion,
  file: PromptFile,
  repository: PromptRepository,
): Promise<Content | null> {
  const contents = await readContentsWithText(version, file, repository);
  const [sameText] = contents;
  if (sameText === undefined) return null;
  if (version.metadataDigest === EMPTY_METADATA_DIGEST) return makeContent(sameText, {});
  const sameContent = contents.find(({ metadataDigest }) => metadataDigest === version.metadataDigest);
  return sameContent ?? makeContent(sameText, undefined);
}

async function readContentsWithText(
  version: KnownVersion,
  file: PromptFile,
  repository: PromptRepository,
): Promise<readonly Content[]> {
  const sourceFile = await readSourceFile(version, repository);
  if (sourceFile !== null) return [sourceFile.content];
  // Somebody created the version in the service, but an import or an edit may have added its text to git.
  const { states } = await readPlannedLine(file, repository);
  return states.map((state) => state.file.content).filter(({ digest }) => digest === version.digest);
}
