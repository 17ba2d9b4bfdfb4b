import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Inputs } from './inputs.ts';

/**
 * The first line of what promptsync writes on GitHub, which no reader sees: it is found again by it. One for each
 * working directory and configuration.
 */
export function markerOf({ config = '', 'working-directory': folder }: Inputs): string {
  const where = JSON.stringify([posix.normalize(`${folder}/`), config]);
  return `<!-- promptsync ${createHash('sha256').update(where).digest('hex').slice(0, 16)} -->`;
}

/** The second line, of a plan that can be approved. */
export function planLine(digest: string | null): string {
  return digest === null ? '' : `<!-- plan ${digest} -->\n`;
}

/** The digest of the plan that a comment shows; null where it shows none that can be approved. */
export function shownPlan(body: string): string | null {
  const [, second = ''] = body.split(/\r?\n/);
  return /^<!-- plan (sha256:[0-9a-f]{64}) -->$/.exec(second)?.[1] ?? null;
}
