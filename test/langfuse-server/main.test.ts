import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, startNode } from '../support/cli.ts';

const MAIN = resolve(import.meta.dirname, 'main.ts');

test('the test suite for a real Langfuse server names any missing variables and exits with 1', async () => {
  const keys = { LANGFUSE_PUBLIC_KEY: 'pk-lf-1', LANGFUSE_SECRET_KEY: '', LANGFUSE_BASE_URL: undefined };
  const options = { cwd: resolve(import.meta.dirname, '../..'), environment: childEnvironment(keys) };
  const { exitCode, stderr } = await startNode(MAIN, [], options).ended;
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/LANGFUSE_BASE_URL, LANGFUSE_SECRET_KEY/);
});
