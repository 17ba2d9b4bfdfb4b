import { expect, test } from 'vitest';
import {
  changeAnswers,
  startStoryOutsideGit,
  expectInSync,
  isCreate,
  renumberVersions,
  faultOn,
  summarizeRun,
  type Fault,
} from './support.ts';
import { KEY } from '../support/service.ts';

/** Variants that the interface allows. Each is a service that somebody may run. */
const dialects: readonly [string, Fault][] = [
  ['sync succeeds with a service that numbers its versions 100, 110, 120', changeAnswers(renumberVersions)],
  [
    'sync succeeds with a service that omits active_version if no version is active',
    changeAnswers((body) => body.replace(/,"active_version":null/, '')),
  ],
  [
    'sync succeeds with a service that returns 404 if no version is active',
    async (request, forward) => {
      const answer = await forward(request);
      return answer.body.includes('"active_version":null') ? { status: 404, body: '{}' } : answer;
    },
  ],
  [
    'sync succeeds with a service that omits latest_version_id',
    changeAnswers((body) => body.replace(/"latest_version_id":"[^"]*",/, '')),
  ],
  [
    'sync succeeds with a service that sends unknown fields and omits created_at',
    changeAnswers((body) => body.replaceAll(/"created_at":"[^"]*"/g, '"x":{"y":[]}')),
  ],
];

test.each(dialects)('%s', async (_, dialect) => {
  const story = await startStoryOutsideGit({ text: 'A' });
  await story.through(dialect);
  const made = 'exit 0, applied, create made, staging made';
  expect(summarizeRun(await story.sync())).toBe(made);
  story.edit({ text: 'B' });
  expect(summarizeRun(await story.sync())).toBe(made);
  story.edit({ text: 'A' });
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, staging made');
  const { id } = story.active('staging')!;
  story.edit({ text: 'C', pins: { staging: 'latest', production: `version:${id}` } });
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, create made, staging made, production made');
  expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual(['v3 C', 'v1 A', 3]);
  await expectInSync(story);
});

test('sync does not print the API key even if the service repeats it in an error', async () => {
  const story = await startStoryOutsideGit({ text: 'A' });
  await story.through(
    faultOn(isCreate, async () => ({ status: 422, body: JSON.stringify({ detail: `the key ${KEY}` }) })),
  );
  const ran = await story.sync('--verbose');
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toContain('/versions 422');
  expect(ran.stdout).toContain('the key ');
  expect(ran.stdout + ran.stderr).not.toContain(KEY);
});
