import { expect, test } from 'vitest';
import { INPUT_NAMES, readInputs } from '../../../src/forges/github/action-runner.ts';
import { endOfCall, inputsOf, makeRunner } from './support.ts';

test('readInputs returns the default values if no input is set', () => {
  expect(inputsOf()).toEqual({
    mode: 'auto',
    comment: 'always',
    'working-directory': '.',
    'require-reviewed-plan': false,
    'any-commit': false,
    'drift-issue': false,
    ...{ prompts: '', to: '', environment: '', environments: [] },
  });
});

test('readInputs reads the value of every input', () => {
  const given = {
    ...{ mode: 'plan', config: 'a.yaml', 'working-directory': 'sub', 'base-url': 'https://a.example' },
    ...{ 'api-key': 'key', 'public-key': 'open', 'github-token': 'token', comment: 'changes', 'on-drift': 'fail' },
    ...{ 'max-changes': '25%', 'require-reviewed-plan': 'true', 'any-commit': 'true', 'drift-issue': 'false' },
    ...{ prompts: 'a b', from: 'staging', to: 'production', environment: 'production' },
    environments: 'staging\n qa  production\n',
  };
  expect(Object.keys(given).toSorted()).toEqual([...INPUT_NAMES].toSorted());
  expect(inputsOf(given)).toEqual({
    ...given,
    'max-changes': { kind: 'percent', percent: 25 },
    'require-reviewed-plan': true,
    'any-commit': true,
    'drift-issue': false,
    environments: ['staging', 'qa', 'production'],
  });
});

test.each<[string, string, string]>([
  ['mode', 'apply', 'expected "auto"'],
  ['max-changes', 'many', 'expected a number, or a percentage such as 25%'],
  ['require-reviewed-plan', 'yes', 'expected "true"'],
  ['require-reviewed-plan', 'True', 'expected "true"'],
])('readInputs masks all secrets before it rejects the input %s with the value %j', (name, value, expected) => {
  const secrets: string[] = [];
  const runner = makeRunner({ [name]: value, 'api-key': 'key', 'github-token': 'token' });
  const end = endOfCall(() => JSON.stringify(readInputs(runner, { keep: (secret) => void secrets.push(secret) })));
  expect(end).toMatch(new RegExp(`action/invalid-input: The \`${name}\` input is invalid: .*${expected}`));
  expect(secrets).toEqual(['key', 'token']);
});
