import { expect, test } from 'vitest';
import { git, writeFiles } from '../../support/folder.ts';
import { pinsIn } from '../../support/several-services.ts';
import { makeAdoption, readAt, STAGES, textOf } from './importing.ts';

const PORTABLE = `${STAGES.replace('canary: { promote_from: staging, allow_latest: false }', 'canary: {}')}portable_pins: true\n`;
const GREETING = 'prompts/greeting.md';
const REFUND = 'prompts/refund.md';

test('With portable_pins, import --commit pins in each file only the environments whose text the file holds, and lists the others', async () => {
  const { importAll, read, json, service, folder } = await makeAdoption(
    {
      greeting: { production: 'One.', canary: 'Two.', staging: 'Two.' },
      refund: { production: 'Refund.', canary: 'Refund?', staging: 'Refund!' },
    },
    PORTABLE,
  );
  const { exitCode, report, stderr } = await importAll('--commit');
  expect(exitCode).toBe(0);
  expect([pinsIn(read(GREETING)), pinsIn(read(REFUND))]).toEqual([
    ['staging: latest', 'canary: latest'],
    ['staging: latest'],
  ]);
  const unpinned = /promptsync left (.*) unpinned in the new file/;
  expect(report.problems.map(({ code, path, message }) => [code, path, unpinned.exec(message)?.[1]])).toEqual([
    ['import/unpinned', GREETING, '"production"'],
    ['import/unpinned', REFUND, '"canary" and "production"'],
  ]);
  expect(stderr).not.toContain('serves no version');
  expect([textOf(readAt(folder, 'HEAD~2', GREETING)), pinsIn(readAt(folder, 'HEAD~2', GREETING))]).toEqual([
    'One.',
    [],
  ]);
  expect(textOf(readAt(folder, 'HEAD~1', REFUND))).toBe('Refund?');
  expect(pinsIn(readAt(folder, 'HEAD~1', REFUND))).toEqual(['canary: latest']);
  // A pin to an intermediate commit means the text that the environment serves.
  const served = git(folder, 'rev-parse', 'HEAD~2');
  writeFiles(folder, { [GREETING]: read(GREETING).replace('pins:\n', `pins:\n  production: git:${served}\n`) });
  git(folder, 'commit', '--quiet', '--all', '--message', 'Pin production');
  service.takeWrites();
  const plan = await json('plan');
  expect(plan.report.summary).toMatchObject({ set_active: 0, create_version: 0, baselines: 2, blocked: 0 });
});
