import { expect, test } from 'vitest';
import type { ProposalMode } from '../../../src/forges/github/action-event.ts';
import { makeProposalBranchName } from '../../../src/forges/github/propose-edits.ts';
import { inputsOf } from './support.ts';

const named = (mode: ProposalMode, inputs: Readonly<Record<string, string>> = {}) =>
  makeProposalBranchName(mode, inputsOf(inputs));

test.each<[ProposalMode, Readonly<Record<string, string>>, string]>([
  ['pull', {}, 'pull'],
  ['pull', { environment: 'staging', to: 'production' }, 'pull'],
  ['promote', { to: 'production', environment: 'staging' }, 'promote-production'],
  ['rollback', { to: 'staging', environment: 'eu-production_2' }, 'rollback-eu-production_2'],
])('makeProposalBranchName in %s mode with the inputs %j returns %s', (mode, inputs, expected) => {
  expect(named(mode, inputs)).toBe(expected);
});

test('makeProposalBranchName returns a unique and valid branch name for each environment, folder and configuration file', () => {
  const environments = ['..', '.', ' ', 'a b', 'a-b', 'a/b', 'a.lock', '-f', 'Größe', 'größe', '~^:?*[\\@{-1}'];
  const long = ['x'.repeat(300), 'x'.repeat(301)];
  const file = { config: 'a.yaml' };
  const places = [{}, { 'working-directory': 'a' }, file, { 'working-directory': 'b', ...file }];
  const names = places.flatMap((place) => [
    named('pull', place),
    ...[...environments, ...long].map((to) => named('promote', { ...place, to })),
  ]);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    // git allows every name of this form.
    expect(name).toMatch(/^(pull|promote-[\w-]+)(\.[0-9a-f]{16})?$/);
    expect(name.length).toBeLessThan(100);
  }
});
