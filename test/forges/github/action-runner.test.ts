import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { INPUT_NAMES, readInputs } from '../../../src/forges/github/action-runner.ts';
import { ACTION } from '../../support/action.ts';
import { childEnvironment } from '../../support/cli.ts';
import { makeFolder } from '../../support/folder.ts';
import { endOfCall, inputsOf, makeRunner } from './support.ts';

describe('readInputs', () => {
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
    ['mode', 'PLAN', 'expected "auto"'],
    ['comment', 'sometimes', 'expected "always"'],
    ['on-drift', 'ignore', 'expected "overwrite"'],
    ['max-changes', 'many', 'expected a number, or a percentage such as 25%'],
    ['max-changes', '-1', 'expected a number, or a percentage such as 25%'],
    ['max-changes', '101%', 'expected a number, or a percentage such as 25%'],
    ['require-reviewed-plan', 'yes', 'expected "true"'],
    ['require-reviewed-plan', 'True', 'expected "true"'],
    ['drift-issue', '1', 'expected "true"'],
  ])('readInputs masks all secrets before it rejects the input %s with the value %j', (name, value, expected) => {
    const secrets: string[] = [];
    const runner = makeRunner({ [name]: value, 'api-key': 'key', 'github-token': 'token' });
    const end = endOfCall(() => JSON.stringify(readInputs(runner, { keep: (secret) => void secrets.push(secret) })));
    expect(end).toMatch(new RegExp(`action/invalid-input: The \`${name}\` input is invalid: .*${expected}`));
    expect(secrets).toEqual(['key', 'token']);
  });
});

test('the action fails with one annotation if its working folder was deleted', async () => {
  const script = 'mkdir gone; cd gone; rmdir ../gone; "$0" "$1"; echo "code $?"';
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, process.execPath, ACTION], {
    cwd: makeFolder(),
    env: childEnvironment(),
  });
  expect(stdout).toMatch(/^::error title=usage\/no-current-folder::.*\ncode 1\n$/);
  expect(stderr).not.toContain('    at ');
});
