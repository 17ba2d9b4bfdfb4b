import type { Digested } from '../domain/digest.ts';
import type { Wanted } from '../domain/observed.ts';
import type { Written } from '../domain/provider.ts';
import { refOf } from '../domain/versions.ts';
import type { PromptService } from '../service/prompt-service.ts';
import { stopped } from '../service/written.ts';
import { during, makeProblem, type Problem, problemOf, ProblemError } from '../problem.ts';
import { type Head, mayFollow } from './ownership.ts';
import { readBack, type Reading, versionsRead } from './reading.ts';
import type { Version } from './stamp.ts';

export type LedgerWorld = {
  readonly service: PromptService;
  /** For every prompt it stands on the newest version that promptsync made. */
  readonly trackingEnvironment: string;
  /** A text that is unique to one attempt to create a version. */
  readonly newOperation: () => string;
  /** The text that git has at a commit and path of a ledger; null where it has none. */
  readonly textAt: (commit: string, path: string) => Promise<Digested | null>;
  /** Waits so many milliseconds; rejects when the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** What is known while one prompt is written: `reading` grows with every version made, looked at or made active. */
export type Writing = { readonly world: LedgerWorld; readonly wanted: Wanted; reading: Reading };

export function headOf({ world, reading }: Writing): Head {
  return reading.active.get(world.trackingEnvironment);
}

/** Remembers versions that were read, with all that their ledgers name. */
export function note(writing: Writing, ...versions: readonly Version[]): void {
  const { reading } = writing;
  writing.reading = { ...reading, looked: [...reading.looked, ...versions] };
}

/** Makes a version active and reads it back. Throws when it was not set; what is read back wrong is a problem. */
export async function activate(writing: Writing, environment: string, expected: Version): Promise<Written> {
  const { prompt, active } = writing.reading;
  await writing.world.service.setActive(prompt.id, environment, expected.id);
  try {
    const version = await verifyActive(writing, environment, expected);
    const before = active.get(environment) ?? null;
    note(writing, ...(before === null ? [] : [before]));
    writing.reading = { ...writing.reading, active: new Map([...active, [environment, version]]) };
    return { status: 'made', version: refOf(version), problems: [] };
  } catch (error) {
    return stopped('unknown', problemOf(error));
  }
}

/**
 * Moves the tracking environment to the newest version, of those that were read, that may follow its head. It moves
 * before any other: a run cut right after this still leaves its newest ledger readable.
 */
export async function followNewest(writing: Writing): Promise<readonly Problem[]> {
  const head = headOf(writing);
  const following = versionsRead(writing.reading).filter((version) => mayFollow(version, head));
  const [newest] = following.toSorted((a, b) => b.number - a.number);
  return newest === undefined ? [] : track(writing, newest);
}

export async function track(writing: Writing, version: Version): Promise<readonly Problem[]> {
  const { trackingEnvironment } = writing.world;
  const set = activate(writing, trackingEnvironment, version);
  const { problems } = await set.catch((error: unknown) => stopped('unknown', problemOf(error)));
  return problems.map((problem) => during(`Setting "${trackingEnvironment}" to v${version.number}`, problem));
}

/** Reads an environment after it was set. Throws a `ProblemError` when it serves another version or another text. */
async function verifyActive({ world, reading }: Writing, environment: string, expected: Version): Promise<Version> {
  const isMeant = ({ id, digest }: Version) => id === expected.id && digest === expected.digest;
  const active = await readBack(world, reading.prompt.id, environment, isMeant);
  if (active === null || active.id !== expected.id) {
    const found = active === null ? 'nothing' : `version "${active.id}"`;
    const evidence = { environment, expected: `version "${expected.id}"`, found };
    throw new ProblemError(makeProblem('apply/not-active', evidence));
  }
  if (active.digest === expected.digest) return active;
  const evidence = { environment, expected: 'the planned text', found: `another text (v${active.number})` };
  throw new ProblemError(makeProblem('apply/not-active', evidence));
}
