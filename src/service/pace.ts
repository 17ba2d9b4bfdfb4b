/** How many requests may be in flight, with what the service's answers have told of it. */
export type Pace = {
  /** From 1 to `most`. */
  readonly limit: number;
  readonly most: number;
  /** Until the first trouble the limit doubles with each round of answers, and goes up by one afterwards. */
  readonly starting: boolean;
  /** Whether any answer has come yet, whatever it was. */
  readonly heard: boolean;
  /** Good answers since the limit was changed. */
  readonly good: number;
  /** Requests with lower numbers were begun before the limit was last halved: their answers tell of what it was then. */
  readonly since: number;
  /** The latest waits, until there are enough of them to compare; in milliseconds. */
  readonly recent: readonly number[];
  /** What a wait is taken to be; null before there were enough of them. In milliseconds. */
  readonly usual: number | null;
  /** The limit at which the service refused, and how many good rounds there must be before it is tried again. */
  readonly refused: { readonly limit: number; readonly rounds: number } | null;
};

/** What an answer tells. Requests are counted from 0 in the order in which they were begun. */
export type Told = {
  readonly request: number;
  /** How many requests had been begun when the answer came. */
  readonly begun: number;
  /** Whether others wait for a place: a limit that is not reached tells nothing. */
  readonly busy: boolean;
  /** Null when none came. */
  readonly status: number | null;
  /** Between the request and the first byte of its answer, in milliseconds; null where it is not like that of others. */
  readonly waited: number | null;
};

type Heard = Told & { readonly status: number };

const FIRST_LIMIT = 4;
const WAITS_COMPARED = 16;
/** In milliseconds: below, a wait that doubles is noise. */
const CLEARLY_LONGER = 50;
const MOST_ROUNDS = 64;

export function startingPace(most: number): Pace {
  const limit = Math.min(FIRST_LIMIT, most);
  return { limit, most, starting: true, heard: false, good: 0, since: 0, recent: [], usual: null, refused: null };
}

/**
 * Additive increase, multiplicative decrease. Halves on 429, on 503 and when answers take clearly longer than usual, at
 * most once for all requests that were in flight together. With a service of which nothing was ever heard it grows as
 * well: there is nobody to spare, and each request is waited for until it is too late.
 */
export function afterAnswer(pace: Pace, told: Told): Pace {
  if (told.request < pace.since) return pace;
  if (told.status === null) return pace.heard || !told.busy ? pace : withGood(pace);
  return afterStatus(pace.heard ? pace : { ...pace, heard: true }, { ...told, status: told.status });
}

function afterStatus(pace: Pace, { status, begun, busy, waited }: Heard): Pace {
  if (status === 429 || status === 503) return { ...halved(pace, begun), refused: refusedAt(pace) };
  if (status >= 500) return pace;
  const timed = waited === null ? pace : withWait(pace, waited, begun);
  return timed.limit < pace.limit || !busy ? timed : withGood(timed);
}

function halved(pace: Pace, begun: number): Pace {
  const limit = Math.max(1, Math.floor(pace.limit / 2));
  return { ...pace, limit, starting: false, good: 0, since: begun, recent: [] };
}

/** Each refusal makes the next try rarer: a service with a fixed limit would refuse some of every round otherwise. */
function refusedAt({ limit, refused }: Pace): Pace['refused'] {
  return { limit: Math.max(2, limit), rounds: Math.min(MOST_ROUNDS, (refused?.rounds ?? 1) * 2) };
}

/** What is usual falls at once and rises slowly: a service that has become slower for good is not waited for for ever. */
function withWait(pace: Pace, wait: number, begun: number): Pace {
  const recent = [...pace.recent, wait];
  if (recent.length < WAITS_COMPARED) return { ...pace, recent };
  const median = recent.toSorted((a, b) => a - b)[WAITS_COMPARED / 2] ?? wait;
  const { usual } = pace;
  if (usual === null || median <= usual) return { ...pace, recent: [], usual: median };
  const risen = { ...pace, recent: [], usual: usual + (median - usual) / 4 };
  return median > 2 * usual && median > usual + CLEARLY_LONGER ? halved(risen, begun) : risen;
}

function withGood(pace: Pace): Pace {
  const { limit, most, starting, refused } = pace;
  if (limit === most) return pace;
  const good = pace.good + 1;
  const rounds = refused?.limit === limit + 1 ? refused.rounds : 1;
  if (!starting && good < limit * rounds) return { ...pace, good };
  return { ...pace, limit: limit + 1, good: 0, refused: refused?.limit === limit ? null : refused };
}
