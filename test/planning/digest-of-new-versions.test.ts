import { describe, expect, test } from 'vitest';
import {
  content,
  file,
  type FileParts,
  makePlan,
  observation,
  observed,
  rules,
  version,
  type WrittenPins,
} from './support.ts';

describe('The digest of a plan that makes a version which nothing serves yet', () => {
  const found = observed({ active: { production: version(7, 'Seven'), promptsync: version(9, 'Nine') } });

  function digestOf(parts: FileParts): string {
    const plan = makePlan([file({ ...parts, pins: { production: 7 } })], observation(found), rules());
    expect(plan.prompts[0]?.changes.map(({ kind }) => kind)).toEqual(['create-version']);
    return plan.digest;
  }

  test('stays over another path', () => {
    expect(digestOf({ text: 'Draft', path: 'other.md' })).toBe(digestOf({ text: 'Draft' }));
  });

  test.each([
    ['text', { text: 'Another draft' }],
    ['metadata', { text: 'Draft', metadata: { model: 'x' } }],
    ['metadata, if only that they are managed', { text: 'Draft', metadata: {} }],
  ])('changes with its %s', (_, parts) => {
    expect(digestOf(parts)).not.toBe(digestOf({ text: 'Draft' }));
  });

  test('is not that of a plan without changes', () => {
    expect(digestOf({ text: 'Draft' })).not.toBe(makePlan([], observation(), rules()).digest);
  });
});

describe('The digest of a plan that makes two versions', () => {
  const found = observed({ active: { staging: version(1, 'Hello'), production: version(1, 'Hello') } });

  function planOf(pins: WrittenPins) {
    const given = rules({ refs: { v1: content('Old') }, environmentOrder: ['staging', 'production'] });
    return makePlan([file({ text: 'Hi', pins })], observation(found), given);
  }

  test('changes with which environment is to serve which of them', () => {
    const plan = planOf({ staging: 'latest', production: 'git:v1' });
    const turned = planOf({ staging: 'git:v1', production: 'latest' });
    const madeBy = ({ prompts }: typeof plan) => prompts[0]?.changes.filter(({ kind }) => kind === 'create-version');
    expect(madeBy(turned)).toStrictEqual(madeBy(plan));
    expect(turned.digest).not.toBe(plan.digest);
  });
});
