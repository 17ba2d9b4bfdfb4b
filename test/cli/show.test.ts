import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type RunOptions } from '../support/run.ts';
import { changeService, startTestService } from '../support/service.ts';

const CONFIG = `prompts: ["prompts/**/*.md"]
environments: { staging: {}, production: { promote_from: staging } }
`;
const FILES = ['x.json', 'x.txt', 'x.md', 'x.html', 'x.xml'];

/**
 * Makes a scene with every kind of report content: a pending edit with a hidden character, drift since the first
 * commit, and a prompt that was never synced.
 */
async function makeScene() {
  const prompts = { greeting: {}, refund: { description: 'Refunds.' } };
  const folder = makeRepository(workspaceFiles(prompts, CONFIG));
  const service = await startTestService(['greeting', 'refund', 'late', 'new']);
  expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
  const metadata = { model: 'm', a: [1] };
  writeFiles(folder, {
    'prompts/greeting.md': promptText('greeting', {
      pins: { staging: 'latest', production: 1 },
      metadata,
      text: 'An\u200bother {{text}}.\n\nTwo.',
    }),
    'prompts/late.md': promptText('late', { pins: { staging: 'latest', production: 9 }, name: 'Late' }),
  });
  commitAll(folder, 'Edit (#12)');
  await changeService(service.baseUrl, 'refund', 'staging', 'Refund {{x}}.');
  return { folder, service };
}

/** The commands in an order in which each still finds the changes that it reports. */
const COMMANDS: readonly (readonly string[])[] = [
  ['plan', '--base', 'HEAD^'],
  ['status'],
  ['history', 'greeting', '--environment', 'staging'],
  ['import', 'prm_new', 'prm_none', '--dry-run'],
  ['validate'],
  ['init', '--embedded'],
  ['pull', 'refund', '--commit', '--branch', 'pulled'],
  ['sync', '--yes', '--base', 'HEAD^'],
  ['rollback', 'greeting', '--environment', 'staging', '--to', '1'],
];

describe('show', () => {
  test('show recreates all output files of a command byte for byte from the JSON report, without an API key', async () => {
    const { folder, service } = await makeScene();
    const outputs = FILES.flatMap((file) => ['-o', file]);
    for (const words of COMMANDS) {
      const ran = await run(folder, [...words, ...outputs], service);
      expect(ran.stdout).toBe('');
      const elsewhere = makeFolder();
      const again = await run(elsewhere, ['show', join(folder, 'x.json'), ...outputs]);
      expect(again.exitCode).toBe(0);
      expect(ran.stderr.endsWith(again.stderr)).toBe(true);
      for (const file of FILES) expect([words, read(elsewhere, file)]).toEqual([words, read(folder, file)]);
    }
  });

  test('show prints a saved report with the width and colors of the current terminal', async () => {
    const { folder, service } = await makeScene();
    for (const [line, screen] of [
      ['plan', { terminal: true, columns: 60 }],
      ['history *', { terminal: true, columns: 100, environment: { NO_COLOR: '1' } }],
    ] as const satisfies readonly (readonly [string, RunOptions])[]) {
      await run(folder, [...line.split(' '), '-o', 'x.json'], service);
      const environment = { ...service.environment, ...('environment' in screen && screen.environment) };
      const ran = await run(folder, line.split(' '), { ...screen, environment });
      const again = await run(folder, ['show', 'x.json'], screen);
      expect(again).toEqual({ ...ran, exitCode: 0, stderr: withoutProgress(ran.stderr) });
    }
  });
});

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}

/** Removes the progress line, which a command draws and clears. */
function withoutProgress(stderr: string): string {
  return stderr.replaceAll(/(?:\r\u001b\[2K)?(?:Observing|Reading)[^\r]*\r\u001b\[2K/g, '');
}

test.each([
  ['show rejects a report file that does not exist', null, 'ENOENT'],
  ['show rejects a report that is not valid JSON', 'no', 'it is not JSON'],
  ['show rejects a report with an unsupported schema version', '{"schema_version": 2}', 'schema_version'],
])('%s', async (_, content, reason) => {
  expect(await showInvalid(content)).toContain(reason);
});

test('show rejects a report with control characters in a problem code', async () => {
  const { stdout } = await runJson(makeFolder(), ['validate']);
  expect(await showInvalid(stdout.replace('"code": "', '$&\\u001b[2J'))).toContain('problems.0.code');
});

/** Returns the message of `show` about an invalid report. Without content, the file does not exist. */
async function showInvalid(content: string | null): Promise<string> {
  const folder = makeFolder();
  if (content !== null) writeFileSync(join(folder, 'x.json'), content);
  const { report, exitCode } = await runJson(folder, ['show', 'x.json']);
  expect([exitCode, report.problems.map(({ code }) => code)]).toEqual([1, ['usage/not-a-report']]);
  return report.problems[0]?.message ?? '';
}
