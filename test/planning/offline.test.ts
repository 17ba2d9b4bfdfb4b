import { describe, expect, test } from 'vitest';
import { latestProblems, possibleSkips, skipWarnings } from '../../src/planning/promotion.ts';
import { file, formerPins, type WrittenPins } from './support.ts';

const ORDER = new Map([['production', 'staging']]);

describe('latest where it is not allowed', () => {
  test.each<[string, WrittenPins, readonly string[]]>([
    ['in the environment that forbids it', { staging: 'latest', production: 'latest' }, ['production']],
    ['not in another one', { staging: 'latest', production: 1 }, []],
    ['whatever else is pinned there', { production: 'git:v1' }, []],
  ])('is told %s', (_, pins, environments) => {
    const problems = latestProblems(file({ pins }), ['production']);
    expect(problems.map(({ code }) => code)).toEqual(environments.map(() => 'guard/latest-not-allowed'));
    expect(problems.every(({ message, path }) => message.includes('"production"') && path !== undefined)).toBe(true);
  });
});

describe('a promotion of which git does not know the environment before', () => {
  test.each<[string, WrittenPins, readonly WrittenPins[], readonly string[]]>([
    ['is warned of', { staging: 1, production: 2 }, [{ staging: 1, production: 1 }], ['2 from staging']],
    ['not where both have one number', { staging: 2, production: 2 }, [{ staging: 1, production: 1 }], []],
    [
      'not where the environment before follows the file',
      { staging: 'latest', production: 2 },
      [{ production: 1 }],
      [],
    ],
    ['not where it is pinned by a ref', { staging: 1, production: 'git:v1' }, [{ staging: 1, production: 1 }], []],
    ['not where it is not pinned', { production: 2 }, [{ production: 1 }], []],
    ['not where it once had the number', { staging: 1, production: 2 }, [{ staging: 2, production: 1 }], []],
    ['not of a number that is gone back to', { staging: 1, production: 2 }, [{ production: 1 }, { production: 2 }], []],
    ['not where it once followed the file', { staging: 1, production: 2 }, [{ staging: 'latest', production: 1 }], []],
    ['not where the file began so', { staging: 1, production: 2 }, [], []],
    ['not where the environment itself was never pinned', { staging: 1, production: 2 }, [{ staging: 1 }], []],
  ])('%s', (_, pins, former, told) => {
    const skips = possibleSkips(file({ pins }), ORDER);
    const warnings = skipWarnings(skips, formerPins(former));
    expect(warnings.map(({ code, severity }) => `${code} ${severity}`)).toEqual(
      told.map(() => 'pin/not-promoted warning'),
    );
    expect(skips.filter((_, index) => index < told.length).map(({ number, from }) => `${number} from ${from}`)).toEqual(
      told,
    );
  });

  test('is told at the place of its pin', () => {
    const { pins, path } = file({ pins: { staging: 1, production: 2 } });
    const { line, column } = pins[1]!;
    const skips = possibleSkips(file({ pins: { staging: 1, production: 2 } }), ORDER);
    expect(skips).toEqual([{ environment: 'production', from: 'staging', number: 2, place: { path, line, column } }]);
  });
});
