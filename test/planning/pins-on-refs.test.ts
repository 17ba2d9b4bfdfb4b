import { describe, expect, test } from 'vitest';
import { isNew } from '../../src/domain/plan.ts';
import { content, file, makePlan, observation, observed, rules, version } from './support.ts';

const refs = { v1: content('Old'), v2: content('Older') };
const pins = { staging: 'latest', qa: 'git:v1', production: 'git:v2' };

describe('Pins on git refs whose contents are to be made', () => {
  const active = { staging: null, qa: version(1, 'Hey'), production: null };
  const changesOf = () =>
    makePlan([file({ pins })], observation(observed({ active })), rules({ refs })).prompts.flatMap(
      ({ changes }) => changes,
    );

  test('name the ref in the environment that is set; latest names none', () => {
    const targets = changesOf().flatMap((change) => (change.kind === 'set-active' ? [change.after] : []));
    expect(targets.map((after) => isNew(after) && [after.new.text, after.ref])).toEqual([
      ['Hello', undefined],
      ['Old', 'v1'],
      ['Older', 'v2'],
    ]);
  });

  test('make each content with the ref and the provenance of that ref, and the own with neither', () => {
    const created = changesOf().flatMap((change) => (change.kind === 'create-version' ? [change] : []));
    expect(created).toStrictEqual([
      {
        kind: 'create-version',
        content: refs.v1,
        ref: 'v1',
        provenance: { commit: 'at-v1', path: 'prompts/a.md' },
      },
      {
        kind: 'create-version',
        content: refs.v2,
        ref: 'v2',
        provenance: { commit: 'at-v2', path: 'prompts/a.md' },
      },
      { kind: 'create-version', content: content('Hello'), provenance: {} },
    ]);
  });
});
