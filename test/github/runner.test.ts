import { describe, expect, test } from 'vitest';
import { INPUT_NAMES, readInputs } from '../../src/github/runner.ts';
import { endOfCall, inputsOf, makeRunner } from './support.ts';

describe('the inputs', () => {
  test('without any are the defaults', () => {
    expect(inputsOf()).toEqual({
      mode: 'auto',
      comment: 'always',
      'working-directory': '.',
      'require-reviewed-plan': false,
      'drift-issue': false,
    });
  });

  test('are read each', () => {
    const given = {
      ...{ mode: 'plan', config: 'a.yaml', 'working-directory': 'sub', 'base-url': 'https://a.example' },
      ...{ 'api-key': 'key', 'github-token': 'token', comment: 'changes', 'on-drift': 'fail' },
      ...{ 'max-changes': '25%', 'require-reviewed-plan': 'true', 'drift-issue': 'false' },
    };
    expect(Object.keys(given).toSorted()).toEqual([...INPUT_NAMES].toSorted());
    expect(inputsOf(given)).toEqual({
      ...given,
      'max-changes': { kind: 'percent', percent: 25 },
      'require-reviewed-plan': true,
      'drift-issue': false,
    });
  });

  test.each<[string, string, string]>([
    ['mode', 'apply', 'expected auto, plan, sync, drift'],
    ['mode', 'PLAN', 'expected auto, plan, sync, drift'],
    ['comment', 'sometimes', 'expected always, changes, never'],
    ['on-drift', 'ignore', 'expected overwrite, fail'],
    ['max-changes', 'many', 'expected a number, or a percentage such as 25%'],
    ['max-changes', '-1', 'expected a number, or a percentage such as 25%'],
    ['max-changes', '101%', 'expected a number, or a percentage such as 25%'],
    ['require-reviewed-plan', 'yes', 'expected true or false'],
    ['require-reviewed-plan', 'True', 'expected true or false'],
    ['drift-issue', '1', 'expected true or false'],
  ])('%s: %j is reported by name, and the secrets are made so before', (name, value, expected) => {
    const runner = makeRunner({ [name]: value, 'api-key': 'key', 'github-token': 'token' });
    const end = endOfCall(() => JSON.stringify(readInputs(runner)));
    expect(end).toContain(`action/invalid-input: The input \`${name}\` is not valid: ${expected}`);
    expect(runner.secrets).toEqual(['key', 'token']);
  });

  test('that were not given are no secrets', () => {
    const runner = makeRunner({ mode: 'drift' });
    readInputs(runner);
    expect(runner.secrets).toEqual([]);
  });
});
