import { describe, expect, test } from 'vitest';
import {
  changeAnswers,
  startStoryOutsideGit,
  expectInSync,
  isCreate,
  changeStoredVersion,
  renumberVersions,
  faultOn,
  summarizeRun,
  type Fault,
} from './support.ts';
import { KEY } from '../support/service.ts';

test.each(['a/b?&', 'ä #1+%2F', '..'])(
  'sync creates and activates versions in an environment named %j',
  async (environment) => {
    const story = await startStoryOutsideGit({ text: 'A', pins: { [environment]: 'latest' } });
    expect(summarizeRun(await story.sync())).toBe(`exit 0, applied, create made, ${environment} made`);
    expect([story.serves(environment), story.versions()]).toEqual(['v1 A', 1]);
    story.edit({ text: 'B' });
    await story.sync();
    expect([story.serves(environment), story.versions()]).toEqual(['v2 B', 2]);
    await expectInSync(story);
  },
);

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

type RewritingService = {
  readonly rewrite: (content: string) => string;
  /** A text that the service does not change. */
  readonly harmless: string;
  /** A text that the service changes. */
  readonly sent: string;
  /** The changed form of `sent`. */
  readonly kept: string;
};

const rewritingServices: readonly [string, RewritingService][] = [
  [
    'sync never activates text that the service trimmed',
    { rewrite: (content) => content.trim(), harmless: 'A', sent: 'Hello.  ', kept: 'Hello.' },
  ],
  [
    'sync never activates text that the service normalized to NFC',
    { rewrite: (content) => content.normalize('NFC'), harmless: 'A', sent: 'Cafe\u0301', kept: 'Caf\u00e9' },
  ],
];

test('sync ignores line breaks that the service appends to the text', async () => {
  const story = await startStoryOutsideGit({ text: 'A' });
  await story.through(changeStoredVersion(({ content, ...rest }) => ({ ...rest, content: `${content}\r\n\n` })));
  expect(await story.sync()).toMatchObject({ exitCode: 0 });
  await expectInSync(story);
  expect(story.versions()).toBe(1);
});

describe('a service that stores a changed text', () => {
  test.each(rewritingServices)('%s', async (_, { rewrite, harmless, sent, kept }) => {
    const story = await startStoryOutsideGit({ text: harmless, pins: { staging: 'latest', production: 'latest' } });
    await story.through(changeStoredVersion(({ content, ...rest }) => ({ ...rest, content: rewrite(content) })));
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    const before = `v1 ${harmless}`;

    story.edit({ text: sent });
    for (const _ of ['first', 'second', 'third']) {
      const ran = await story.sync();
      expect(ran.exitCode).toBe(4);
      expect(ran.report.prompts).toMatchObject([{ status: 'failed', problems: [{ code: 'apply/rewritten' }] }]);
      expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual([before, before, 2]);
    }

    story.edit({ text: kept });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual([
      `v3 ${kept}`,
      `v3 ${kept}`,
      3,
    ]);
    await expectInSync(story);
  });
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
