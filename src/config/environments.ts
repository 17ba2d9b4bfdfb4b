import type { Config } from './config.ts';

/** The environment before each that has one. */
export function promotedFrom({ environments }: Pick<Config, 'environments'>): ReadonlyMap<string, string> {
  return new Map(
    (environments ?? []).flatMap(({ name, promoteFrom }): [string, string][] =>
      promoteFrom === undefined ? [] : [[name, promoteFrom]],
    ),
  );
}

/** The environments in which no pin may be `latest`. */
export function forbidsLatest({ environments }: Pick<Config, 'environments'>): readonly string[] {
  return (environments ?? []).filter(({ allowLatest }) => !allowLatest).map(({ name }) => name);
}
