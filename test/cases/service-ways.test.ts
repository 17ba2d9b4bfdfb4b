import { expect, test } from 'vitest';
import { handOn, startFrontFor } from '../support/front.ts';
import { CONFIG } from '../support/prompts.ts';
import { makePromotionScene, summarizeRun } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';

/** Changes a response of the embedded service into one that the interface also allows. */
function changeResponse(body: string): string {
  return body
    .replaceAll(/"version_number":(\d+)/g, (_, number) => `"version_number":${90 + 10 * Number(number)}`)
    .replace(/,"active_version":null/, '')
    .replace(/"latest_version_id":"[^"]*",/, '')
    .replaceAll(/"created_at":"[^"]*"/g, '"x":{"y":[]}');
}

test('sync succeeds with a service that numbers versions 100, 110, 120, omits optional fields and sends unknown ones', async () => {
  const { folder, service, commit, serves } = await makePromotionScene({ text: 'A' }, { config: CONFIG });
  const { environment } = await startFrontFor(service, async (request) => {
    const { status, body } = await handOn(request, service.baseUrl);
    // One of the environments that serve nothing answers with 404, the others omit the field.
    const isUnknown = request.path.endsWith('?environment=staging') && body.includes('"active_version":null');
    return isUnknown ? { status: 404, body: '{}' } : { status, body: changeResponse(body) };
  });
  const sync = async () => summarizeRun(await runJson(folder, ['sync', '--yes'], { environment }));
  for (const [text, version] of [
    ['A', 'v1'],
    ['B', 'v2'],
    ['A', 'v1'],
  ] as const) {
    commit({ text });
    expect([await sync(), serves('staging')]).toEqual(['exit 0, greeting applied', version]);
  }
  const { id } = service.store.readPrompt('prm_greeting', 'staging')!.active_version!;
  commit({ text: 'C', pins: { staging: 'latest', production: `version:${id}` } });
  expect(await sync()).toBe('exit 0, greeting applied');
  expect([serves('staging'), serves('production')]).toEqual(['v3', 'v1']);
  expect(await sync()).toBe('exit 0, greeting unchanged');
});
