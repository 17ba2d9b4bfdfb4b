import { RESERVED_KEY } from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { KEY } from '../support/service.ts';
import { draftOf, nameOf, promptOf } from './calls.ts';
import type { Snapshot } from './kept-store.ts';
import { contentText, wantedText } from './served.ts';
import type { RunRecord, Stage } from './stage.ts';

// Each law gives what breaks it, as sentences, so that a cell shows all of them at once.

/** Pieces of the key that can occur in nothing else: digests are made of hexadecimal digits. */
const PIECES = Array.from({ length: KEY.length - 5 }, (_, start) => KEY.slice(start, start + 6)).filter((piece) =>
  /[^0-9a-f]/.test(piece),
);

export function keyIsHidden({ stdout, stderr }: Pick<RunRecord, 'stdout' | 'stderr'>): readonly string[] {
  const shown = PIECES.filter((piece) => (stdout + stderr).includes(piece));
  return shown.length === 0 ? [] : [`the output holds ${shown.join(', ')} of the key`];
}

/** One request to create each content in a run, and one more for each that was answered with 429. */
export function contentsAreSentOnce({ arrivals }: Pick<RunRecord, 'arrivals'>): readonly string[] {
  const creates = arrivals.filter(({ request }) => nameOf(request) === 'create');
  const sent = Object.groupBy(creates, ({ request }) => contentOf(promptOf(request), draftOf(request)));
  return Object.entries(sent).flatMap(([content, requests = []]) => {
    const refused = requests.filter(({ status }) => status() === 429).length;
    return requests.length <= 1 + refused ? [] : [`${requests.length} requests to create ${content}`];
  });
}

/** No two versions of one content that the tool made. */
export function contentsAreThereOnce({ versions }: Pick<Snapshot, 'versions'>): readonly string[] {
  const own = versions.filter(({ metadata_ }) => metadata_ !== null && RESERVED_KEY in metadata_);
  const made = Object.groupBy(own, ({ prompt_id: promptId, content, metadata_: metadata }) =>
    contentOf(promptId, { content, metadata }),
  );
  return Object.entries(made).flatMap(([content, several = []]) =>
    several.length <= 1 ? [] : [`${several.length} versions of ${content}`],
  );
}

/** A pinned environment serves what it served at first or what git says, and nothing in between. */
export function onlyReviewedWasServed({ served, servedFirst, scene }: Stage): readonly string[] {
  const allowed = new Set([...servedFirst, ...scene.wanted.map(wantedText)]);
  return [...served].filter((one) => !allowed.has(one)).map((one) => `it served ${one}`);
}

export function nothingIsSent({ arrivals }: Pick<RunRecord, 'arrivals'>): readonly string[] {
  return arrivals
    .filter(({ request }) => request.method !== 'GET')
    .map(({ request }) => `it sent ${request.method} ${request.path}`);
}

function contentOf(
  promptId: string,
  { content, metadata }: { readonly content: string; readonly metadata: JsonObject | null },
): string {
  return `${promptId} ${contentText(content, metadata)}`;
}
