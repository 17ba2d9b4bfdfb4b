/**
 * Runs the suite of this folder against a real Langfuse server: `npm run test:langfuse`. Exits with 1 if a variable is
 * missing.
 */
import { spawnSync } from 'node:child_process';

const VARIABLES = ['LANGFUSE_BASE_URL', 'LANGFUSE_PUBLIC_KEY', 'LANGFUSE_SECRET_KEY'];

const missing = VARIABLES.filter((name) => !process.env[name]);
if (missing.length > 0) {
  console.error(
    `These tests need a Langfuse server. Set ${missing.join(', ')}. The tests create prompts below a folder of their ` +
      'own and delete them at the end. docs/CONTRIBUTING.md says how to start a server.',
  );
  process.exit(1);
}

const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project=fast', '--project=slow', 'test/langfuse-server'];
// The report of .ci/run stays as it is.
const report = '--outputFile.json=node_modules/.cache/promptsync/langfuse-test-report.json';
const env = { ...process.env, TEST_LANGFUSE_URL: process.env['LANGFUSE_BASE_URL'] };
const { status } = spawnSync(process.execPath, [...vitest, report, ...process.argv.slice(2)], {
  env,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
