import type { PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import type { FormerPins } from '../domain/former-pins.ts';

/** Pins that follow the file in environments where that is not allowed. */
export function latestProblems(file: PromptFile, forbidden: readonly string[]): readonly Problem[] {
  return file.pins
    .filter(({ pin, environment }) => pin.kind === 'latest' && forbidden.includes(environment))
    .map(({ environment, line, column }) =>
      makeProblem('guard/latest-not-allowed', { environment }, { path: file.path, line, column }),
    );
}

/** A pin to a number that the environment before is not pinned to by its own number. */
export type Skip = {
  readonly environment: string;
  readonly from: string;
  readonly number: number;
  readonly place: Place;
};

/** Pins that may be promotions out of order; git knows more. */
export function possibleSkips({ pins, path }: PromptFile, promotedFrom: ReadonlyMap<string, string>): readonly Skip[] {
  return pins.flatMap(({ environment, pin, line, column }): readonly Skip[] => {
    const from = pins.find((one) => one.environment === promotedFrom.get(environment));
    if (from === undefined || pin.kind !== 'number' || from.pin.kind !== 'number') return [];
    const { number } = pin;
    return number === from.pin.number
      ? []
      : [{ environment, from: from.environment, number, place: { path, line, column } }];
  });
}

/**
 * Warnings of promotions of which git does not know that the environment before ever had the version. Only the service
 * can tell what it serves, so nothing is refused here; and what is pinned from the first commit on was not promoted.
 */
export function skipWarnings(skips: readonly Skip[], former: FormerPins): readonly Problem[] {
  return skips.flatMap(({ environment, from, number, place }) => {
    const [states, before] = [former.get(environment) ?? [], former.get(from) ?? []];
    const hadAny = [...states, ...before].some(({ pin }) => pin.kind !== 'number' || pin.number === number);
    return hadAny || states.length === 0 ? [] : [makeProblem('pin/not-promoted', { environment, from, number }, place)];
  });
}
