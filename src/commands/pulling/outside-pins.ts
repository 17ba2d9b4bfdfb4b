import { pinText, type PromptFile } from '../../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { pinEdit, type PinEdit } from '../editing/pin-edit.ts';
import type { FormerFile } from '../past/former-pins.ts';
import type { OutsideEdit } from './outside-edits.ts';

/** What git knows of a file's earlier pins: the states of the file, and whether there may be more of them. */
export type PinHistory = { readonly earlier: readonly FormerFile[]; readonly complete: boolean };

/** An environment that is pinned to a version of its own is pinned to the one that it serves. */
export function pinServed({ environment, pin, version }: OutsideEdit): readonly PinEdit[] {
  if (pin === null || pin.pin.kind === 'latest') return [];
  return [pinEdit({ environment, number: version.number }, pin.pin)];
}

/**
 * Whether the file may mean its pin although the environment serves something else: it was edited since the last
 * commit, or git does not know whether it was, and what is served may be what an earlier commit asked for.
 */
export function isContested({ environment, pin, own }: OutsideEdit, { earlier, complete }: PinHistory): boolean {
  if (pin === null || pin.pin.kind === 'latest') return false;
  const [last] = earlier;
  if (last === undefined) return own;
  const committed = last.file.pins.find((one) => one.environment === environment)?.pin;
  const edited = committed === undefined || pinText(committed) !== pinText(pin.pin);
  return edited || (own && !complete);
}

export function contestedProblem({ environment, pin, version }: OutsideEdit, { path }: PromptFile): Problem {
  const evidence = { environment, pin: pin === null ? '' : pinText(pin.pin), serves: `v${version.number}` };
  const place = pin === null ? {} : { line: pin.line, column: pin.column };
  return makeProblem('pull/pin-conflict', evidence, { path, ...place });
}
