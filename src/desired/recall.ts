import { isDigestOf } from '../domain/digest.ts';
import { type History, NO_HISTORY } from '../domain/desired.ts';
import type { FileHistory } from '../domain/history.ts';
import { dueVersion, type Meaning, meaningOf, meaningsOf } from '../domain/meaning.ts';
import type { Observation, Observed } from '../domain/observed.ts';
import { changedFields, FIELDS, type Provenance } from '../domain/plan.ts';
import type { KnownVersion, VersionFacts } from '../domain/versions.ts';
import type { Content, EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { Repository } from '../git/repository.ts';
import { fileOfVersion } from './at-commit.ts';
import { pinnedAlways, readFormerFiles, readFormerWants, readGuardHistory, wasSyncedBefore } from './read-history.ts';
import type { ReadDesired } from './read-desired.ts';

type Given = Pick<ReadDesired, 'config' | 'repository' | 'base' | 'contentsAtRefs' | 'promotedFrom' | 'uncommitted'>;
type Sources = Given & { readonly repository: Repository };

type Compared = {
  readonly file: PromptFile;
  readonly observed: Observed;
  /** Of each of its pins. */
  readonly meanings: readonly Meaning[];
};

/** Reads what git says of earlier commits, of those of the files alone that differ from what was observed. */
export async function recall(
  files: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  { repository, ...given }: Given,
): Promise<History> {
  if (repository === null) return NO_HISTORY;
  const sources = { repository, ...given };
  const compared = files.flatMap((file): readonly Compared[] => {
    const found = observed.get(file.id);
    const atRefs = sources.contentsAtRefs.get(file.id) ?? new Map();
    return found === undefined ? [] : [{ file, observed: found, meanings: meaningsOf(file, found, atRefs) }];
  });
  const doubted = compared.filter(mayBeRefused(sources));
  const histories = await readAll(doubted, async (one) => ({ ...one, ...(await fileHistory(one, repository)) }));
  const drifting = compared.filter(mayDrift(sources));
  const tips = drifting.length === 0 ? [] : await tipsOf(sources);
  return {
    formerPins: mapValues(histories, ({ pins }) => pins),
    firstAges: firstAges(histories),
    pinnedAlways: mapValues(histories, ({ file, ...history }) => pinnedAlways(file, history)),
    formerWants: await readAll(drifting, ({ file }) => readFormerWants(file, tips, repository)),
    provenance: await readProvenance(compared, sources),
    contents: await readContents(compared, repository),
  };
}

/** By prompt id; of the prompts that need it. */
async function readAll<Read>(needed: readonly Compared[], read: (one: Compared) => Promise<Read>) {
  return new Map(await Promise.all(needed.map(async (one) => [one.file.id, await read(one)] as const)));
}

/** What was wanted before is all that these commits contain: base, head, and the tip of the branch that goes live. */
async function tipsOf({ repository, base, config }: Sources): Promise<readonly string[]> {
  const tips = [base?.commit, repository.head, await repository.knownTip(config.branch)];
  return repository.independent(tips.filter((tip) => typeof tip === 'string'));
}

function mapValues<Read, Made>(all: ReadonlyMap<string, Read>, make: (read: Read) => Made): ReadonlyMap<string, Made> {
  return new Map([...all].map(([id, read]) => [id, make(read)]));
}

/** Whether an environment is to serve what the one before does not: only an earlier pin can allow that. */
function mayBeRefused({ promotedFrom }: Sources) {
  return ({ file, observed, meanings }: Compared): boolean =>
    file.pins.some(({ environment }, at) => {
      const from = promotedFrom.get(environment);
      const meaning = meanings[at];
      if (from === undefined || meaning === undefined || meaning.kind === 'in-sync') return false;
      const serves = observed.active.get(from) ?? null;
      return serves === null || meaning.kind !== 'known' || !isSame(serves, meaning.version);
    });
}

function isSame(one: VersionFacts, other: VersionFacts): boolean {
  return one.id === other.id || (one.digest === other.digest && one.metadataDigest === other.metadataDigest);
}

const NO_STATES: FileHistory = { commits: [], pins: new Map(), whole: false };

/** The history of HEAD decides about promotion order. A base must not: it would weaken the guard. */
async function fileHistory({ file, observed }: Compared, repository: Repository): Promise<FileHistory> {
  if (repository.head === null) return NO_STATES;
  const history = await readGuardHistory(file, repository.head, repository);
  const whole = history.whole && !(await wasSyncedBefore(history, observed, repository));
  return { ...history, whole };
}

/** Returns the age of each file's first state, by prompt id. Leaves out a file if git may not show its first state. */
function firstAges(histories: ReadonlyMap<string, FileHistory>): ReadonlyMap<string, number> {
  const known = [...histories].filter(([, { commits, whole }]) => whole && commits.length > 0);
  return new Map(known.map(([id, { commits }]) => [id, commits.length - 1]));
}

/** Whether a field is, or an environment serves, neither what the base wants nor what the file does. */
function mayDrift({ base, contentsAtRefs }: Sources) {
  return ({ file, observed, meanings }: Compared): boolean => {
    const then = base?.files.get(file.id);
    if (then === undefined) return false;
    const atRefs = contentsAtRefs.get(file.id) ?? new Map();
    const isMoved = ({ environment }: EnvironmentPin): boolean => {
      const pin = then.pins.find((one) => one.environment === environment);
      const serves = observed.active.get(environment) ?? null;
      return serves !== null && pin !== undefined && meaningOf(pin, then, observed, atRefs).kind !== 'in-sync';
    };
    if (file.pins.some((pin, at) => meanings[at]?.kind !== 'in-sync' && isMoved(pin))) return true;
    const [now, before] = [file, then].map((one) => changedFields(one, observed.fields));
    return FIELDS.some((field) => now?.[field] !== undefined && before?.[field] !== undefined);
  };
}

/** Of the files that a version is to be made of; what is not committed comes from no commit. */
async function readProvenance(compared: readonly Compared[], { repository, uncommitted }: Sources) {
  const creating = compared.filter(({ file, observed, meanings }) => dueVersion(file, observed, meanings) !== null);
  const paths = creating.map(({ file }) => file.path).filter((path) => !uncommitted.has(path));
  const { head, fromRoot, lastCommitAt } = repository;
  if (head === null) return new Map<string, Provenance>();
  const last = await Promise.all(paths.map(async (path) => [path, await lastCommitAt(head, fromRoot(path))] as const));
  return new Map(last.flatMap(([path, commit]) => (commit === null ? [] : [[path, commit]])));
}

/** The texts that environments are to serve and that the service did not show; a plan can be shown without them. */
async function readContents(compared: readonly Compared[], repository: Repository) {
  const found = compared.flatMap(({ file, meanings }) =>
    meanings.map(async (meaning): Promise<readonly [string, Content][]> => {
      if (meaning.kind !== 'known' || meaning.version.content !== null) return [];
      const content = await fromGit(meaning.version, file, repository);
      return content === null ? [] : [[meaning.version.id, content]];
    }),
  );
  return new Map((await Promise.all(found)).flat());
}

/** The file at the version's commit, or else at any other, provided that it holds what the version does. */
async function fromGit(version: KnownVersion, file: PromptFile, repository: Repository) {
  const then = await fileOfVersion(version, repository);
  if (then !== null) return then.content;
  // What was imported, or put into the file after it was made in the service, names no commit.
  const former = repository.head === null ? [] : await readFormerFiles(file, repository.head, repository);
  return former.find((one) => isDigestOf(version.digest, one.file.content))?.file.content ?? null;
}
