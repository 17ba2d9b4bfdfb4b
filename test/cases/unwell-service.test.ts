import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { activates, beginOutsideGit, expectSettled, reads, told, type Fault } from './support.ts';
import { makeWorkspace } from '../support/folder.ts';
import { startFront, type FrontAnswer } from '../support/front.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { KEY } from '../support/service.ts';
import { listening } from '../service/support.ts';

const IDS = Array.from({ length: 40 }, (_, index) => `p${index}`);
const FORTY = workspaceFiles(Object.fromEntries(IDS.map((id) => [id, {}])), `${CONFIG}timeout_seconds: 1\n`);

function environmentOf(baseUrl: string) {
  return { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: KEY };
}

describe('a service that accepts and never answers', () => {
  test('is given up after the first requests in flight, and that is said once', async () => {
    let requests = 0;
    const server = createServer((socket) => socket.on('data', () => void (requests += 1)).on('error', () => {}));
    const { url } = await listening(server);
    const { exitCode, stdout } = await run(makeWorkspace(FORTY), ['plan'], { environment: environmentOf(url) });
    expect([exitCode, requests]).toEqual([1, 8]);
    expect(stdout.match(/service\/no-answer/g)).toHaveLength(1);
    expect(stdout).toMatch(/^error: The service at \S+ has answered nothing: 8 requests had 1 s each/);
  });
});

describe('a service that says wait', () => {
  /** What is written to standard error while every first request of a prompt is answered with 429. */
  async function waited(...words: readonly string[]) {
    const seen = new Set<string>();
    const { baseUrl } = await startFront({
      answer: ({ path }) => {
        if (seen.has(path)) return { status: 500, body: '' };
        seen.add(path);
        return { status: 429, body: '', headers: { 'retry-after': '120' } };
      },
    });
    // No time passes, so that all waits are side by side.
    const options = { environment: environmentOf(baseUrl), now: () => 0, sleep: async () => {} };
    return (await run(makeWorkspace(FORTY), words, options)).stderr;
  }

  test.each([
    ['plan', 'waiting 60 s: the service asks for 120\n'],
    ['plan --quiet', ''],
  ])('%s: standard error holds %j', async (words, said) => {
    expect(await waited(...words.split(' '))).toBe(said);
  });
});

describe('a service that answers 404', () => {
  const notFound: Fault = async () => ({ status: 404, body: '{}' });

  test('to every prompt: the base URL may be wrong', async () => {
    const story = await beginOutsideGit({});
    const { baseUrl } = await story.through(notFound);
    const ran = await story.plan();
    expect(told(ran)).toBe('exit 1, failed, service/prompt-not-found, service/none-found');
    expect(ran.report.problems[0]?.message).toContain(baseUrl);
    expect(ran.report.problems[0]?.hint).toMatch(/^Is the base URL right\?/);
  });

  test('to one of them: its id may be wrong, and nothing else', async () => {
    const { baseUrl } = await startFront({
      answer: ({ path }) => {
        const id = /prompts\/(\w+)/.exec(path)?.[1] ?? '';
        const body = JSON.stringify({ id, project_id: 'p', key: 'a', name: 'a' });
        return id === 'prm_a' ? { status: 200, body } : { status: 404, body: '{}' };
      },
    });
    const { report } = await runJson(makeWorkspace(workspaceFiles({ a: {}, b: {} })), ['plan'], {
      environment: environmentOf(baseUrl),
    });
    expect(report.problems).toEqual([]);
    expect(report.prompts[1]?.problems.map(({ code }) => code)).toEqual(['service/prompt-not-found']);
  });
});

describe('a cache in front of the service', () => {
  /** After an environment was set, so many reads show what it served when it was last read. */
  function cached(environment: string, times: number): Fault {
    let kept: FrontAnswer | null = null;
    let old = 0;
    return async (request, forward) => {
      if (activates(environment)(request)) old = times;
      if (!reads(environment)(request)) return null;
      if (old-- <= 0) kept = await forward(request);
      return kept;
    };
  }

  test.each<[string, string, number, string]>([
    ['the environment, for a moment', 'staging', 2, 'exit 0, applied, create made, staging made'],
    ["the tool's own environment, for a moment", 'promptsync', 2, 'exit 0, applied, create made, staging made'],
    [
      'the environment, for ever',
      'staging',
      Infinity,
      'exit 4, failed, create made, staging unknown, apply/not-active',
    ],
  ])('that shows what was before in %s', async (_, environment, times, expected) => {
    const story = await beginOutsideGit({ text: 'A' });
    await story.sync();
    await story.through(cached(environment, times));
    story.edit({ text: 'B' });
    expect(told(await story.sync())).toBe(expected);
    expect(story.serves('staging')).toBe('v2 B');
    story.directly();
    await expectSettled(story);
  });
});
