import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';
import { activates, forwardTo, isCreate, isRead, on, type Forward } from './faults.ts';
import { beginOutsideGit, expectSettled, told } from './support.ts';

type Arrival = { readonly method: string; readonly path: string; readonly idleClosed: boolean };

/**
 * Closes every connection that has answered a request and been idle since, at the worst moment: when the next request
 * is already on its way.
 */
async function startImpatient(forward: Forward): Promise<{ readonly baseUrl: string; readonly arrivals: Arrival[] }> {
  const arrivals: Arrival[] = [];
  const used = new WeakSet<object>();
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = Buffer.concat(await incoming.toArray()).toString('utf8');
    const { method = '', url: path = '', socket } = incoming;
    const idleClosed = used.has(socket);
    arrivals.push({ method, path, idleClosed });
    if (idleClosed) return void socket.destroy();
    used.add(socket);
    const { status, body } = await forward({ method, path, ...(sent !== '' && { body: JSON.parse(sent) }) });
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((incoming, response) => void answer(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, arrivals };
}

test('an idle connection closed just before create: it goes out once, on a connection of its own', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: { pins: { staging: 'latest', production: 'latest' } } }));
  const service = await startTestService(['greeting']);
  const { baseUrl, arrivals } = await startImpatient(forwardTo(service.baseUrl));
  const environment = { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: KEY };
  const ran = await runJson(folder, ['sync', '--yes'], { environment, sleep: async () => {} });
  expect(told(ran)).toBe('exit 0, applied, create made, staging made, production made');
  expect(arrivals.some(({ idleClosed }) => idleClosed)).toBe(true);
  expect(arrivals.filter(({ path }) => path.endsWith('/versions'))).toMatchObject([{ idleClosed: false }]);
  expect(service.store.readPrompt('prm_greeting', 'production')?.active_version?.version_number).toBe(1);
  expect(told(await runJson(folder, ['plan'], service))).toBe('exit 0, unchanged');
});

const NOW = Date.UTC(2026, 0, 2, 12);
const httpDate = (seconds: number) => new Date(NOW + seconds * 1_000).toUTCString();

describe('Retry-After', () => {
  test.each([
    ['an hour in seconds counts as a minute', '3600', 60_000],
    ['few seconds count', '7', 7_000],
    ['an HTTP date', httpDate(30), 30_000],
    ['an HTTP date in an hour counts as a minute', httpDate(3_600), 60_000],
    ['an HTTP date that is past', httpDate(-60), 0],
  ])('%s', async (_, retryAfter, waited) => {
    const story = await beginOutsideGit({ text: 'A' }, { now: () => NOW });
    const busy = async () => ({ status: 429, body: '{}', headers: { 'retry-after': retryAfter } });
    const onceEach = [isRead, isCreate, activates('staging')].map((matches) => on(matches, busy, 1));
    await story.through(async (request, forward) => {
      for (const fault of onceEach) {
        const answer = await fault(request, forward);
        if (answer !== null) return answer;
      }
      return null;
    });
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect(story.waits).toEqual([waited, waited, waited]);
    expect(story.versions()).toBe(1);
    await expectSettled(story);
  });
});

test('a service that repeats the key in its failures: it is in no output', async () => {
  const story = await beginOutsideGit({ text: 'A' });
  await story.through(on(isCreate, async () => ({ status: 422, body: JSON.stringify({ detail: `the key ${KEY}` }) })));
  const ran = await story.sync('--verbose');
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toContain('/versions 422');
  expect(ran.stdout).toContain('the key ');
  expect(ran.stdout + ran.stderr).not.toContain(KEY);
});
