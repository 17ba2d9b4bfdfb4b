import { escapeForRunner } from '../report/escape.ts';
import type { Host } from './host.ts';

/** A text as standard output and standard error can take it: a GitHub runner reads commands out of both. */
export function forLog(text: string, { environment }: Pick<Host, 'environment'>): string {
  return environment['GITHUB_ACTIONS'] === 'true' ? escapeForRunner(text) : text;
}
