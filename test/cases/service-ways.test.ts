import { describe, expect, test } from 'vitest';
import { activates, answers, numberedOddly, on, type Fault, type Matches } from './faults.ts';
import { beginOutsideGit, expectSettled, told } from './support.ts';

const isAnyActivation: Matches = ({ path }) => path.endsWith('/set-active');

describe('set-active that answers `true` and does nothing', () => {
  const lies = async () => ({ status: 200, body: '{"updated":true}' });

  test('in a pinned environment: a failure; the next run goes on without another version', async () => {
    const story = await beginOutsideGit({ text: 'A', pins: { staging: 'latest', production: 'latest' } });
    await story.through(on(activates('staging'), lies));
    const ran = await story.sync();
    expect(told(ran)).toBe('exit 4, failed, create made, staging unknown, production not_made, apply/not-active');
    expect(ran.report.prompts[0]!.problems[0]!.message).toContain('"staging" serves nothing');

    story.directly();
    expect(told(await story.sync())).toBe('exit 0, applied, staging made, production made');
    expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual(['v1 A', 'v1 A', 1]);
    await expectSettled(story);
  });

  test('in every environment: no run makes a second version, and the service may recover', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    await story.through(on(isAnyActivation, lies));
    expect(await story.sync()).toMatchObject({ exitCode: 4 });
    expect(await story.sync()).toMatchObject({ exitCode: 4 });
    expect([story.versions(), story.serves('staging')]).toEqual([1, 'nothing']);

    story.directly();
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.versions(), story.serves('staging')]).toEqual([1, 'v1 A']);
    await expectSettled(story);
  });
});

test('a tracking environment that may not be set: nothing is made that would be forgotten', async () => {
  const story = await beginOutsideGit({ text: 'A' });
  await story.through(on(activates('promptsync'), async () => ({ status: 403, body: '{}' })));
  for (const text of ['A', 'B', 'C', 'B', 'A']) {
    story.edit({ text });
    await story.sync();
  }
  expect(story.versions()).toBe(1);
});

test('a base URL with a path', async () => {
  const story = await beginOutsideGit({ text: 'A' });
  const front = await story.through(async (request, forward) => {
    const path = /^\/some\/base(\/v1\/.*)$/.exec(request.path)?.[1];
    return path === undefined ? { status: 404, body: '{}' } : forward({ ...request, path });
  }, '/some/base');
  expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
  expect(story.serves('staging')).toBe('v1 A');
  expect(front.requests.every(({ path }) => path.startsWith('/some/base/v1/integration/'))).toBe(true);
  expect(told(await story.plan('--exit-code'))).toBe('exit 0, unchanged');
});

test.each(['a/b?&', 'ä #1+%2F', '..'])('an environment named %s', async (environment) => {
  const story = await beginOutsideGit({ text: 'A', pins: { [environment]: 'latest' } });
  expect(told(await story.sync())).toBe(`exit 0, applied, create made, ${environment} made`);
  expect([story.serves(environment), story.versions()]).toEqual(['v1 A', 1]);
  story.edit({ text: 'B' });
  await story.sync();
  expect([story.serves(environment), story.versions()]).toEqual(['v2 B', 2]);
  await expectSettled(story);
});

/** What the interface leaves open: each is a service that somebody may run. */
const dialects: readonly [string, Fault][] = [
  ['versions are numbered 100, 110, 120', answers(numberedOddly)],
  [
    'no active version is told by a field that is absent',
    answers((body) => body.replace(/,"active_version":null/, '')),
  ],
  [
    'no active version is told by 404',
    async (request, forward) => {
      const answer = await forward(request);
      return answer.body.includes('"active_version":null') ? { status: 404, body: '{}' } : answer;
    },
  ],
  ['no latest_version_id', answers((body) => body.replace(/"latest_version_id":"[^"]*",/, ''))],
  [
    'no created_at, and fields that nobody knows',
    answers((body) => body.replaceAll(/"created_at":"[^"]*"/g, '"x":{"y":[]}')),
  ],
];

test.each(dialects)('a service of another dialect (%s): A, B, back to A, and A pinned beside C', async (_, dialect) => {
  const story = await beginOutsideGit({ text: 'A' });
  await story.through(dialect);
  const made = 'exit 0, applied, create made, staging made';
  expect(told(await story.sync())).toBe(made);
  story.edit({ text: 'B' });
  expect(told(await story.sync())).toBe(made);
  story.edit({ text: 'A' });
  expect(told(await story.sync())).toBe('exit 0, applied, staging made');
  const { id } = story.active('staging')!;
  story.edit({ text: 'C', pins: { staging: 'latest', production: `version:${id}` } });
  expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made, production made');
  expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual(['v3 C', 'v1 A', 3]);
  await expectSettled(story);
});
