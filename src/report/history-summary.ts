import type { Colours } from './colours.ts';
import { counted } from './counted.ts';
import type { Report, ReportPrompt } from './schema.ts';

/** In one line: how much is known, and whether the service differs from the files. */
export function historyOutcome({ prompts }: Report, colours: Colours): string {
  const told = prompts.filter(isTold);
  const failed = prompts.length - told.length;
  if (told.length === 0) return colours.red('No prompt could be observed.');
  const versions = told.reduce((sum, { history }) => sum + (history?.versions.length ?? 0), 0);
  const differing = told.reduce((sum, prompt) => sum + differingRows(prompt).length, 0);
  const parts = [
    counted([told.length, 'prompt', 'prompts']),
    ...(told.some(({ history }) => history !== undefined)
      ? [counted([versions, 'known version', 'known versions'])]
      : []),
    ...(differing === 0 ? [] : [counted([differing, 'environment', 'environments']).concat(' not as pinned')]),
    ...(failed === 0 ? [] : [counted([failed, 'prompt failed', 'prompts failed'])]),
  ];
  return (failed + differing > 0 ? colours.yellow : colours.bold)(`${parts.join(', ')}.`);
}

/** A prompt that was not observed has nothing to tell. */
export function isTold({ history, lineage }: ReportPrompt): boolean {
  return history !== undefined || lineage !== undefined;
}

/** The environments, of those that are told, that serve something else than the file's pin means. */
export function differingRows({ environments = [], lineage }: ReportPrompt) {
  return environments.filter(
    ({ environment, in_sync: inSync }) => !inSync && (lineage === undefined || lineage.environment === environment),
  );
}
