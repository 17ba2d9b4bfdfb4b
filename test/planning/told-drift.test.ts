import { describe, expect, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { content, entry, file, observed, outside, planPrompt, rules, version, type Rules } from './support.ts';

const pins = { staging: 'latest', production: 1 };
const one = version(1, 'One');
const two = version(2, 'Two', { ledger: [entry(1, 'One')] });

function driftOf(head: PromptFile, base: PromptFile, seen: Observed, formerFields: Rules['formerFields'] = new Map()) {
  const known = { files: new Map([['p1', base]]), ancestors: new Set<string>() };
  return planPrompt(head, seen, rules({ base: known, formerFields })).drift;
}

describe('The drift of an environment names', () => {
  const wanted = file({ text: 'Two', pins });

  test('what that environment should serve, not what another one should', () => {
    const seen = observed({ active: { staging: outside(3, 'A'), production: outside(4, 'B'), promptsync: two } });
    expect(driftOf(wanted, wanted, seen)).toStrictEqual([
      {
        kind: 'outside',
        environment: 'staging',
        expected: { id: 'ver_2', number: 2 },
        observed: { id: 'ver_3', number: 3 },
        restores: true,
      },
      {
        kind: 'outside',
        environment: 'production',
        expected: { id: 'ver_1', number: 1 },
        observed: { id: 'ver_4', number: 4 },
        restores: true,
      },
    ]);
  });

  test('the commit of what it serves where the tool has made that', () => {
    const seen = observed({ active: { staging: version(3, 'Three'), production: one, promptsync: two } });
    expect(driftOf(wanted, wanted, seen)).toMatchObject([{ observed: { id: 'ver_3', number: 3, commit: 'c3' } }]);
  });

  test('what is to be made for it, where no version holds that yet', () => {
    const seen = observed({ active: { staging: outside(3, 'A'), production: one } });
    expect(driftOf(wanted, wanted, seen)).toMatchObject([{ expected: { new: content('Two') } }]);
  });
});

describe('The drift of a field', () => {
  const base = file({ text: 'One', pins: { staging: 'latest' }, description: 'Ours' });
  const seen = observed({ active: { staging: one }, prompt: { description: 'Theirs' } });
  const drift = { kind: 'outside', field: 'description', expected: 'Ours', observed: 'Theirs', restores: true };

  test('is told beside a text that the head changes', () => {
    expect(driftOf({ ...base, content: content('Two') }, base, seen)).toStrictEqual([drift]);
  });

  test('is told beside a text that the base would make', () => {
    expect(driftOf(base, { ...base, content: content('Zero') }, seen)).toStrictEqual([drift]);
  });

  test('is none where the service has it as the head wants it', () => {
    expect(driftOf({ ...base, description: 'Theirs' }, base, seen)).toStrictEqual([]);
  });

  const emptied = observed({ active: { staging: one } });

  test('comes from outside where it is empty and no earlier commit is known', () => {
    expect(driftOf(base, base, emptied)).toStrictEqual([{ ...drift, observed: '' }]);
  });

  test('is unfinished where it is empty and an earlier commit had none', () => {
    const { description: _, ...earlier } = base;
    const former = new Map([['p1', [earlier]]]);
    expect(driftOf(base, base, emptied, former)).toStrictEqual([{ ...drift, kind: 'unfinished', observed: '' }]);
  });
});

describe('A sync only puts drift back', () => {
  const base = file({ text: 'Two', pins, description: 'Ours' });
  const seen = observed({
    active: { staging: outside(3, 'A'), production: outside(4, 'B'), promptsync: two },
    prompt: { description: 'Theirs' },
  });
  const restored = (head: PromptFile) => driftOf(head, base, seen).map(({ restores }) => restores);

  test.each<[string, PromptFile, readonly boolean[]]>([
    ['where base and head want the same', base, [true, true, true]],
    ['but not where the head wants another text', { ...base, content: content('New') }, [false, true, true]],
    [
      'but not where the head wants another version',
      file({ text: 'Two', pins: { ...pins, production: 2 }, description: 'Ours' }),
      [true, false, true],
    ],
    ['but not where the head wants another field', { ...base, description: 'New' }, [true, true, false]],
  ])('%s', (_, head, expected) => {
    expect(restored(head)).toEqual(expected);
  });
});
