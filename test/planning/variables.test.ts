import { describe, expect, test } from 'vitest';
import type { Side, TextChange } from '../../src/domain/texts.ts';
import { variableChanges } from '../../src/domain/variables.ts';
import { makePlan } from '../../src/planning/make-plan.ts';
import { refuse, refuseAfresh, type Guards } from '../../src/planning/refuse.ts';
import { needlessLeave, unmeantBreaking } from '../../src/planning/variables.ts';
import { file, observation, observed, planLines, rules, version, type FileParts } from './support.ts';

const side = (text: string): Side => ({ label: 'v1', text });

function change(before: string | null, after: string, environment = 'staging'): TextChange {
  return { environment, before: before === null ? null : side(before), after: side(after) };
}

const UNSEEN: TextChange = { environment: 'staging', before: side('{{a}}'), after: 'unknown' };
const UNREAD: TextChange = { environment: 'staging', before: 'unknown', after: side('{{a}}') };

/** A plan of one prompt whose text is not what staging serves. */
function planOf(parts: FileParts = {}) {
  const found = observed({ active: { staging: version(1, 'Old'), production: version(1, 'Old') } });
  const wanted = file({ text: 'New', pins: { staging: 'latest', production: 'latest' }, ...parts });
  return makePlan([wanted], observation(found), rules());
}

const planned = (parts?: FileParts) => planOf(parts).prompts[0]!;

describe('a change of variables', () => {
  test.each<[string, TextChange, readonly string[]]>([
    ['none', change('Hi {{a}}', 'Hello {{ a }}'), []],
    ['one more', change('Hi', '{{a}}'), ['added a']],
    ['one less', change('{{a}}', 'Hi'), ['removed a']],
    ['another name', change('{{a}}', '{{b}}'), ['added b', 'removed a']],
    ['none where nothing is active yet', change(null, '{{a}}'), []],
    ['none that could be told of a text never read', UNSEEN, []],
    ['none where the text of now was never read', UNREAD, []],
    ['each once', change('', '{{a}}{{b}}{{a}}'), ['added a', 'added b']],
  ])('%s', (_, text, expected) => {
    expect(variableChanges(text).map(({ kind, variable }) => `${kind} ${variable}`)).toEqual(expected);
  });
});

describe('where variables are strict', () => {
  test.each<[string, FileParts, readonly TextChange[], readonly string[]]>([
    ['other words are fine', {}, [change('Hi {{a}}', 'Hello {{a}}')], []],
    ['a first text is fine', {}, [change(null, '{{a}}')], []],
    ['a change is refused', {}, [change('', '{{a}}')], ['guard/breaking 5']],
    [
      'each environment by itself, at its pin',
      {},
      [change('', '{{a}}'), change('{{a}}', '{{a}}', 'production')],
      ['guard/breaking 5'],
    ],
    [
      'in all of them',
      {},
      [change('', '{{a}}'), change('', '{{a}}', 'production')],
      ['guard/breaking 5', 'guard/breaking 6'],
    ],
    ['what was never read is refused', {}, [UNSEEN], ['guard/unknown-variables 5']],
    ['but not where nothing is active', {}, [{ ...UNSEEN, before: null }], []],
    ['a file that allows it is not refused', { allowBreaking: true }, [change('', '{{a}}'), UNSEEN], []],
  ])('%s', (_, parts, texts, expected) => {
    const problems = unmeantBreaking(planned(parts), texts);
    expect(problems.map(({ code, line }) => `${code} ${line}`)).toEqual(expected);
  });

  test('what is looked at before it goes live is not refused unseen: it is planned once more then', () => {
    const looking = { ...planned(), lookups: ['ver_9'] };
    expect(unmeantBreaking(looking, [UNSEEN])).toEqual([]);
  });

  test('the message names the variables and where they change', () => {
    const [problem] = unmeantBreaking(planned(), [change('{{old}}', '{{new}}')]);
    expect(problem).toMatchObject({
      path: 'prompts/a.md',
      message:
        '{{new}} is added in "staging"; {{old}} is removed in "staging", and promptsync.yaml says `variables: strict`.',
      hint: expect.stringContaining('allow_breaking: true'),
    });
  });
});

describe('a leave to break', () => {
  test.each<[string, FileParts, readonly TextChange[], boolean]>([
    ['that is needed is fine', { allowBreaking: true }, [change('', '{{a}}')], false],
    ['that nothing needs is warned of', { allowBreaking: true }, [change('{{a}}', 'x {{a}}')], true],
    ['so it is where nothing changes at all', { allowBreaking: true }, [], true],
    ['it may be needed for a text that was never read', { allowBreaking: true }, [UNSEEN], false],
    ['and where the text of now was never read', { allowBreaking: true }, [UNREAD], false],
    ['it is not asked for where nothing breaks', {}, [], false],
  ])('%s', (_, parts, texts, warned) => {
    const codes = needlessLeave(planned(parts), texts).map(({ code, severity }) => `${severity} ${code}`);
    expect(codes).toEqual(warned ? ['warning prompt/needless-allow-breaking'] : []);
  });
});

describe('a plan with a change of variables that is not meant', () => {
  const none: Guards = { onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() };
  const breaking = new Map([['p1', unmeantBreaking(planned(), [change('', '{{a}}')])]]);

  test('is refused, at first and when it is made afresh', () => {
    const plan = planOf();
    expect(refuse(plan, none)).toEqual(plan);
    const [prompt] = refuse(plan, { ...none, breaking }).prompts;
    expect(planLines(prompt!)).toContain('blocked: guard/breaking');
    expect(refuseAfresh(planned(), planned(), { ...none, breaking }).status).toBe('blocked');
  });

  test('other prompts are not', () => {
    const plan = planOf({ id: 'p2' });
    expect(refuse(plan, { ...none, breaking })).toEqual(plan);
  });
});
