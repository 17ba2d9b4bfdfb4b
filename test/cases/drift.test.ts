import { expect, test } from 'vitest';
import { CONFIG } from '../support/prompts.ts';
import { makePromotionScene, summarizeRun } from '../support/promotion.ts';
import { changeService } from '../support/service.ts';

test('The report contains the id of an overwritten foreign version, and a pin to this id restores that version', async () => {
  const { service, commit, runJson, serves } = await makePromotionScene({ text: 'A' }, { config: CONFIG });
  await runJson('sync', '--yes');
  const theirs = await changeService(service.baseUrl, 'greeting', 'staging', 'Theirs.');
  commit({ text: 'B' });
  const { report } = await runJson('sync', '--yes', '--base', 'HEAD~1');
  expect(report.prompts[0]?.drift).toMatchObject([
    {
      ...{ environment: 'staging', kind: 'outside', expected: { version_number: 1 } },
      observed: { id: theirs, version_number: 2, made_by: 'outside' },
    },
  ]);
  expect(serves('staging')).toBe('v3');
  commit({ text: 'B', pins: { staging: `version:${theirs}` } });
  expect(summarizeRun(await runJson('sync', '--yes'))).toBe('exit 0, greeting applied');
  expect(serves('staging')).toBe('v2');
});
