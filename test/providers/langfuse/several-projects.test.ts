import { expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { git } from '../../support/folder.ts';
import { summarizeRun } from '../../support/promotion.ts';
import { makeSharedRepository, openShared } from '../../support/several-services.ts';

const KEYS = { staging: 'sk-lf-staging-0123456789', production: 'sk-lf-production-0123456789' } as const;
const PARTS = { name: 'prm_greeting', text: 'One.', pins: { staging: 'latest' } } as const;

test('A prompt is created only in the Langfuse projects that pin it, and each project plans only its own pins', async () => {
  const staging = await startLangfuse({ secretKey: KEYS.staging });
  const production = await startLangfuse({ secretKey: KEYS.production });
  const renderService = (url: string, variable: string): string =>
    `provider: langfuse, base_url: "${url}", secret_key_env: ${variable}`;
  const folder = makeSharedRepository(
    {
      staging: {
        service: renderService(staging.baseUrl, 'STAGING_KEY'),
        settings: 'environments: { staging: {} }\nother_environments: [production]\n',
      },
      production: {
        service: renderService(production.baseUrl, 'PRODUCTION_KEY'),
        settings: 'environments: { production: { promote_from: staging } }\nother_environments: [staging]\n',
      },
    },
    { greeting: PARTS },
  );
  const keys = { STAGING_KEY: KEYS.staging, PRODUCTION_KEY: KEYS.production };
  const environment = { LANGFUSE_PUBLIC_KEY: 'pk-lf-0123456789', ...keys };
  const { json, commit } = openShared(folder, environment);
  await json('staging', 'sync', '--yes');
  expect(summarizeRun(await json('production', 'sync', '--yes'))).toBe('exit 0, greeting unchanged');
  expect(production.takeWrites()).toEqual([]);

  const first = git(folder, 'rev-parse', 'HEAD');
  const pins = { staging: 'latest', production: `git:${first}` };
  commit({ ...PARTS, pins });
  commit({ ...PARTS, text: 'Two.', pins });
  staging.requests.length = 0;
  const plan = await json('production', 'plan');
  expect(summarizeRun(plan)).toBe('exit 0, greeting pending pin/source-not-asked');
  await json('production', 'sync', '--yes');
  expect(production.takeWrites()).toEqual(['POST prm_greeting [production]']);
  expect(production.store.serves('prm_greeting', 'production')?.text).toBe('One.');
  expect((await json('production', 'plan', '--exit-code')).exitCode).toBe(0);

  production.requests.length = 0;
  const offline = ['plan', '--offline', '--base', 'HEAD~1'] as const;
  expect((await json('production', ...offline)).report.summary).toMatchObject({ create_version: 0, set_active: 0 });
  expect((await json('staging', ...offline)).report.summary).toMatchObject({ create_version: 1, set_active: 1 });
  expect([staging.requests, production.requests]).toEqual([[], []]);
});
