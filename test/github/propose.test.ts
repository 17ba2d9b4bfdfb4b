import { expect, test } from 'vitest';
import type { Proposing } from '../../src/github/event.ts';
import { branchOf } from '../../src/github/propose.ts';
import { git, makeFolder } from '../support/folder.ts';
import { inputsOf } from './support.ts';

const named = (mode: Proposing, inputs: Readonly<Record<string, string>> = {}) => branchOf(mode, inputsOf(inputs));

test.each<[Proposing, Readonly<Record<string, string>>, string]>([
  ['pull', {}, 'pull'],
  ['pull', { environment: 'staging', to: 'production' }, 'pull'],
  ['promote', { to: 'production', environment: 'staging' }, 'promote-production'],
  ['rollback', { to: 'staging', environment: 'eu-production_2' }, 'rollback-eu-production_2'],
])('%s %j has the branch %s', (mode, inputs, expected) => {
  expect(named(mode, inputs)).toBe(expected);
});

test('each environment and each configuration has a branch of its own, which git allows', () => {
  const environments = [
    '..',
    '.',
    ' ',
    '@{-1}',
    'a b',
    'a-b',
    'a.b',
    'a/b',
    'a.lock',
    '-f',
    'Größe',
    'größe',
    '~^:?*[\\',
  ];
  const long = ['x'.repeat(300), 'x'.repeat(301)];
  const places = [
    {},
    { 'working-directory': 'a' },
    { config: 'a.yaml' },
    { 'working-directory': 'b', config: 'a.yaml' },
  ];
  const names = places.flatMap((place) => [
    named('pull', place),
    ...[...environments, ...long].map((to) => named('promote', { ...place, to })),
  ]);
  expect(new Set(names).size).toBe(names.length);
  const folder = makeFolder();
  for (const name of names) {
    expect(name.length).toBeLessThan(100);
    expect(git(folder, 'check-ref-format', '--branch', `promptsync/${name}`)).toBe(`promptsync/${name}`);
  }
});
