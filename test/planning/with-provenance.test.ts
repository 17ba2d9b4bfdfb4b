import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/domain/plan.ts';
import { makePlan } from '../../src/planning/make-plan.ts';
import { pathsToCreate, withProvenance } from '../../src/planning/with-provenance.ts';
import { content, file, observation, observed, rules, version } from './support.ts';

const refs = { v1: content('Old') };
const provenance = { commit: 'abc', path: 'prompts/a.md', changeSummary: 'Soften the tone' };

/** One prompt of each kind: edited, edited with a pin on a ref, only pinned to a ref, renamed, and as it should be. */
function planOfAll(): Plan {
  const wanted = [
    file({ id: 'p1', path: 'edited.md', text: 'Hi', name: 'New', pins: { staging: 'latest' } }),
    file({ id: 'p2', path: 'edited-and-ref.md', text: 'Hi', pins: { staging: 'latest', production: 'git:v1' } }),
    file({ id: 'p3', path: 'ref.md', pins: { staging: 'latest', production: 'git:v1' } }),
    file({ id: 'p4', path: 'renamed.md', name: 'New', pins: { staging: 'latest' } }),
    file({ id: 'p5', path: 'calm.md', pins: { staging: 'latest' } }),
  ];
  const active = { staging: version(1, 'Hello'), production: null };
  const found = wanted.map(({ id }) => observed({ active, prompt: { id } }));
  const given = rules({ refs });
  const atRefs = given.contentsAtRefs.get('p1') ?? new Map();
  const contentsAtRefs = new Map(wanted.map(({ id }) => [id, atRefs]));
  return makePlan(wanted, observation(...found), { ...given, contentsAtRefs });
}

describe('What git knows of a file', () => {
  test('is asked only where a version of its own content is to be made', () => {
    expect(pathsToCreate(planOfAll())).toEqual(['edited-and-ref.md', 'edited.md']);
  });

  test('goes to the version of its own content, and to no other change', () => {
    const plan = planOfAll();
    const known = new Map(plan.prompts.map(({ file: { path } }) => [path, provenance]));
    for (const [index, { changes }] of withProvenance(plan, known).prompts.entries()) {
      const expected = plan.prompts[index]?.changes.map((change) =>
        change.kind === 'create-version' && change.ref === undefined ? { ...change, provenance } : change,
      );
      expect(changes).toStrictEqual(expected);
    }
  });

  test('leaves the plan as it is where git knows nothing', () => {
    expect(withProvenance(planOfAll(), new Map())).toStrictEqual(planOfAll());
  });
});
