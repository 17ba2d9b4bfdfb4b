import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  changeAnswers,
  changeStoredVersion,
  cutAfter,
  faultOn,
  isActivationOf,
  isCreate,
  isReadOf,
  type Fault,
  type RequestFilter,
  type Sent,
} from '../../cases/support.ts';
import { startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import { makeWorkspace } from '../../support/folder.ts';
import { handOn, startFront } from '../../support/front.ts';
import { CONFIG, workspaceFiles } from '../../support/prompts.ts';
import { run, type RunOptions } from '../../support/run.ts';
import { changeService, KEY, startTestService } from '../../support/service.ts';
import { examine } from './doctoring.ts';

const ENVIRONMENT = 'promptsync-doctor';
const WRITE = ['--write', '--prompt', 'prm_scratch', '--yes'];

/** The points of the check, in order. */
const POINTS = [
  ...['conformance check', 'text: white space', 'text: CRLF', 'text: Unicode', 'text: 100 kB'],
  ...['metadata_', 'version numbers', 'latest_version_id', 'activation'],
  ...['unknown version', "another prompt's version", 'unknown prompt', 'wrong key', 'no active version', 'left behind'],
];

/** The points that doctor cannot check if the environment never serves a version. */
const UNREAD = [...POINTS.slice(1, 5), 'metadata_'].map((name) => `warning ${name}`);

/** Makes a workspace with the prompt `greeting`, and a service that also has the prompt `scratch`. */
async function makeStage(fault?: Fault) {
  const service = await startTestService(['greeting', 'scratch']);
  await changeService(service.baseUrl, 'greeting', 'staging', 'Hi.');
  await changeService(service.baseUrl, 'scratch', 'production', 'Scratch.');
  service.requests.length = 0;
  const target = service.baseUrl;
  const forward: Parameters<Fault>[1] = (request) => handOn(request, target);
  const front = await startFront({
    target,
    ...(fault === undefined ? {} : { answer: (request) => fault(request, forward) }),
  });
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  const check = (words: readonly string[] = WRITE, options: RunOptions = {}) =>
    examine(folder, words, { ...options, environment: { ...environment, ...options.environment } });
  const serves = (environmentName: string) =>
    service.store.readPrompt('prm_scratch', environmentName)?.active_version?.version_number ?? null;
  return { service, front, folder, environment, check, serves };
}

/** Runs the check against a service with a fault. Returns the points of the check that are not ok, by name. */
async function findDeviations(fault: Fault, options: RunOptions = {}) {
  const { check } = await makeStage(fault);
  const { points } = await check(WRITE, options);
  const start = points.findIndex(({ name }) => name === 'conformance check');
  const checked = points.slice(start);
  const deviations = checked.filter(({ level }) => level !== 'ok');
  return { checked, deviations, names: deviations.map(({ name, level }) => `${level} ${name}`) };
}

/** A clock that only sleeping advances, so that no test takes as long as the service that it imitates. */
function makeClock(): Required<Pick<RunOptions, 'now' | 'sleep'>> {
  let time = Date.UTC(2026, 0, 2);
  return {
    now: () => time,
    sleep: async (milliseconds, signal) => {
      time += milliseconds;
      await setTimeout(0, undefined, { signal });
    },
  };
}

/** Answers these requests from a cache for a number of seconds. */
function cached(matches: RequestFilter, seconds: number, now: () => number): Fault {
  const cache = new Map<string, { readonly at: number; readonly answer: Awaited<ReturnType<Parameters<Fault>[1]>> }>();
  return async (request, forward) => {
    if (!matches(request)) return null;
    const entry = `${request.key} ${request.path}`;
    const known = cache.get(entry);
    if (known !== undefined && now() - known.at < seconds * 1_000) return known.answer;
    const answer = await forward(request);
    cache.set(entry, { at: now(), answer });
    return answer;
  };
}

const isReadOfScratch: RequestFilter = ({ method, path }) => method === 'GET' && path.endsWith('prm_scratch');

/** Refuses with a status. */
function answers(status: number, body = '{"detail":"no"}'): Fault {
  return async () => ({ status, body });
}

/** The requests that try to activate an unknown version, or one of another prompt. */
function isActivationOfUnknown(kind: 'unknown' | 'other'): RequestFilter {
  return (request) => {
    const text = JSON.stringify(request.body ?? null);
    if (!isActivationOf(ENVIRONMENT)(request)) return false;
    return (kind === 'unknown') === text.includes('"version_id":"promptsync-doctor-');
  };
}

describe('doctor --write on a four-call service', () => {
  test('doctor --write reports every point of the embedded service as ok', async () => {
    const { check, service, serves } = await makeStage();
    const { exitCode, points, point } = await check();
    expect(exitCode).toBe(0);
    expect(points.slice(-POINTS.length).map(({ name, level }) => `${level} ${name}`)).toEqual(
      POINTS.map((name) => `ok ${name}`),
    );
    expect(point('version numbers').found).toBe('increasing: v2, v3, v4, v5');
    const newest = service.store.readPrompt('prm_scratch')?.latest_version_id;
    expect(point('left behind').found).toContain(`"${ENVIRONMENT}"`);
    expect(point('left behind').found).toContain(`v5 (${newest})`);
    expect({ doctor: serves(ENVIRONMENT), production: serves('production') }).toEqual({ doctor: 5, production: 1 });
  });

  test('doctor --write checks that new version numbers are higher than that of the version an earlier run left active', async () => {
    const { check, service } = await makeStage(
      changeAnswers((body) => body.replaceAll(/"version_number":(\d+)/g, (_, n) => `"version_number":${numbers[n]}`)),
    );
    const numbers: Record<string, number> = { 1: 50, 2: 2, 3: 3, 4: 4, 5: 5 };
    const versionId = service.store.readPrompt('prm_scratch')!.latest_version_id!;
    service.store.setActive('prm_scratch', { environment: ENVIRONMENT, versionId });
    const { point } = await check();
    expect(point('version numbers')).toMatchObject({
      level: 'error',
      found: 'not increasing: v2, v3, v4, v5 after v50 from an earlier run',
    });
  });

  test("doctor --write checks another prompt's version even if the prompt of the first file has no version yet", async () => {
    const service = await startTestService(['empty', 'greeting', 'scratch']);
    await changeService(service.baseUrl, 'greeting', 'staging', 'Hi.');
    const folder = makeWorkspace(workspaceFiles({ empty: {}, greeting: {} }));
    const { point } = await examine(folder, WRITE, service);
    expect(point("another prompt's version")).toMatchObject({ level: 'ok', found: 'refused' });
  });

  test('doctor --write changes only its own environment and never sets the metadata key of version records', async () => {
    const { check, front } = await makeStage();
    await check();
    const writes = front.requests.filter(({ method }) => method !== 'GET');
    expect(new Set(writes.map(({ path }) => path))).toEqual(
      new Set(['versions', 'set-active'].map((what) => `/v1/integration/prompts/prm_scratch/${what}`)),
    );
    const bodies = writes.map(({ body }) => body as { environment?: string; metadata_?: object });
    const environments = bodies.flatMap(({ environment }) => environment ?? []);
    expect(new Set(environments)).toEqual(new Set([ENVIRONMENT]));
    expect(bodies.filter(({ metadata_: metadata }) => metadata !== undefined && 'promptsync' in metadata)).toEqual([]);
    expect(bodies.filter(({ metadata_: metadata }) => metadata !== undefined)).toHaveLength(4);
  });

  test('doctor --write sends a text of exactly 100,000 bytes', async () => {
    const { check, front } = await makeStage();
    await check();
    const sizes = front.requests.filter(isCreate).map(({ body }) => Buffer.byteLength((body as Sent).content));
    expect(Math.max(...sizes)).toBe(100_000);
  });

  test.each<[string, Fault, readonly string[]]>([
    [
      'doctor --write reports an error if the service drops metadata_',
      changeStoredVersion(({ content }) => ({ content })),
      ['error metadata_'],
    ],
    [
      'doctor --write reports an error if the service changes metadata_',
      changeStoredVersion(({ content }) => ({ content, metadata_: { 'promptsync-doctor': {} } })),
      ['error metadata_'],
    ],
    [
      'doctor --write reports an error if the service trims the text of prompts',
      changeStoredVersion((sent) => ({ ...sent, content: sent.content.trim() })),
      ['error text: white space'],
    ],
    [
      'doctor --write only warns if the service strips trailing line breaks, because promptsync ignores them',
      changeStoredVersion((sent) => ({ ...sent, content: sent.content.replace(/\n+$/, '') })),
      ['warning text: white space'],
    ],
    [
      'doctor --write only warns if the service converts CRLF, because promptsync compares with LF',
      changeStoredVersion((sent) => ({ ...sent, content: sent.content.replaceAll('\r\n', '\n') })),
      ['warning text: CRLF'],
    ],
    [
      'doctor --write reports an error if the service normalizes Unicode',
      changeStoredVersion((sent) => ({ ...sent, content: sent.content.normalize('NFC') })),
      ['error text: Unicode'],
    ],
    [
      'doctor --write reports an error if the service cuts off long texts',
      changeStoredVersion((sent) => ({ ...sent, content: sent.content.slice(0, 65_536) })),
      ['error text: 100 kB'],
    ],
    [
      'doctor --write reports an error if the service refuses long texts',
      async (request) => (JSON.stringify(request.body ?? '').length > 90_000 ? { status: 413, body: '' } : null),
      ['error text: 100 kB'],
    ],
    [
      'doctor --write reports an error if version numbers decrease',
      changeAnswers((body) =>
        body.replaceAll(/"version_number":(\d+)/g, (_, n) => `"version_number":${99 - Number(n)}`),
      ),
      ['error version numbers'],
    ],
    [
      "doctor --write reports an error if the service omits latest_version_id, so doctor cannot check a different prompt's version",
      changeAnswers((body) => body.replace(/,"latest_version_id":"[^"]*"/, '')),
      ['error latest_version_id', "warning another prompt's version"],
    ],
    [
      'doctor --write reports an error if the service answers set-active but does not activate the version',
      faultOn(isActivationOf(ENVIRONMENT), answers(200, '{"updated":true}')),
      [...UNREAD, 'error activation', 'error unknown version', "error another prompt's version"],
    ],
    [
      'doctor --write reports an error if the service responds with updated: false to set-active',
      faultOn(isActivationOf(ENVIRONMENT), answers(200, '{"updated":false}')),
      [...UNREAD, 'error activation', 'warning unknown version', "warning another prompt's version"],
    ],
    [
      'doctor --write reports an error if the service accepts an unknown version id',
      faultOn(isActivationOfUnknown('unknown'), answers(200, '{"updated":true}')),
      ['error unknown version'],
    ],
    [
      'doctor --write only warns if the service refuses an unknown version id with an unexpected status',
      faultOn(isActivationOfUnknown('unknown'), answers(422)),
      ['warning unknown version'],
    ],
    [
      "doctor --write reports an error if the service accepts another prompt's version",
      faultOn(isActivationOfUnknown('other'), async (request, forward) => {
        const answer = await forward(request);
        return answer.status === 404 ? { status: 200, body: '{"updated":true}' } : answer;
      }),
      ["error another prompt's version"],
    ],
    [
      'doctor --write reports an error if the service returns a different prompt for an unknown id',
      async ({ method, path, ...request }, forward) => {
        if (method !== 'GET' || !path.includes('/promptsync-doctor-')) return null;
        const id = path.split('/').at(-1) ?? '';
        const answer = await forward({ ...request, method, path: path.replace(id, 'prm_greeting') });
        return { ...answer, body: answer.body.replace('prm_greeting', id) };
      },
      ['error unknown prompt'],
    ],
    [
      'doctor --write only warns if the service answers 403 for an unknown prompt',
      faultOn(({ path }) => path.includes('/promptsync-doctor-'), answers(403)),
      ['warning unknown prompt'],
    ],
    [
      'doctor --write reports an error if the service accepts any key',
      async ({ key: _, ...request }, forward) => forward({ ...request, key: KEY }),
      ['error wrong key'],
    ],
    [
      'doctor --write only warns if the service refuses a wrong key with an unexpected status',
      async ({ key }) => (key === KEY ? null : { status: 400, body: '{}' }),
      ['warning wrong key'],
    ],
    [
      'doctor --write only warns if the service answers 404 for an environment without an active version',
      faultOn(({ path }) => path.includes('environment=promptsync-doctor-'), answers(404)),
      ['warning no active version'],
    ],
    [
      'doctor --write reports an error if the service serves the newest version even if none is active',
      async ({ path, ...request }, forward) => {
        if (!path.includes('environment=promptsync-doctor-')) return null;
        return forward({ ...request, path: path.replace(/(environment=promptsync-doctor).*/, '$1') });
      },
      ['error no active version'],
    ],
    [
      'doctor --write reports a key that is not allowed to create versions, and still runs the other checks',
      faultOn(isCreate, answers(403)),
      [
        ...['white space', 'CRLF', 'Unicode', '100 kB'].map((name) => `error text: ${name}`),
        ...['metadata_', 'version numbers', 'latest_version_id', 'activation'].map((name) => `warning ${name}`),
      ],
    ],
  ])('%s', async (_, fault, expected) => {
    const { names, deviations, checked } = await findDeviations(fault, makeClock());
    expect(names).toEqual(expected);
    expect(checked.map(({ name }) => name)).toEqual(POINTS);
    const unexplained = deviations.filter(({ found, hint }) => hint === null && !found.startsWith('not checked'));
    expect(unexplained).toEqual([]);
  });

  test.each([
    ['doctor --write says that the service refused the text if a create request gets the status 400', 400, true],
    ['doctor --write says that the service refused the text if a create request gets the status 422', 422, true],
    ['doctor --write does not blame the text if a create request gets the status 307', 307, false],
    ['doctor --write does not blame the text if a create request gets the status 404', 404, false],
    ['doctor --write does not blame the text if a create request gets the status 429', 429, false],
  ])('%s', async (_, status, isContentRefused) => {
    const { checked } = await findDeviations(faultOn(isCreate, answers(status)), makeClock());
    const point = checked.find(({ name }) => name === 'text: CRLF');
    expect(point?.level).toBe('error');
    expect(point?.hint?.includes('accept this kind of text')).toBe(isContentRefused);
  });

  test('for a service that drops metadata_, the hint names the consequences', async () => {
    const { deviations } = await findDeviations(changeStoredVersion(({ content }) => ({ content })));
    expect(deviations[0]).toMatchObject({
      found: 'the service dropped it',
      hint: expect.stringMatching(/^Ask the operator .*`metadata_`.*version number.*reverting/),
    });
  });

  test('doctor --write only warns if the service caches environments for ten seconds', async () => {
    const clock = makeClock();
    const { names, deviations } = await findDeviations(cached(isReadOf(ENVIRONMENT), 10, clock.now), clock);
    expect(names).toEqual(['warning activation']);
    expect(deviations[0]!.found).toMatch(/^visible only after (9|10|11)\.\d s$/);
  });

  test('doctor --write reports an error if the service caches environments for longer than sync waits', async () => {
    const clock = makeClock();
    const { names, deviations } = await findDeviations(cached(isReadOf(ENVIRONMENT), 20, clock.now), clock);
    expect(names).toEqual(['error activation']);
    expect(deviations[0]!.found).toMatch(/^visible only after (19|20|21)\.\d s$/);
  });

  test('doctor --write reports an error if an activation is visible only half a second after the last read of a sync', async () => {
    const clock = makeClock();
    const { names } = await findDeviations(cached(isReadOf(ENVIRONMENT), 10.5, clock.now), clock);
    expect(names).toEqual(['error activation']);
  });

  test('doctor --write gives up on an environment that never serves the version, and waits only once', async () => {
    const clock = makeClock();
    const start = clock.now();
    const stale = faultOn(
      isReadOf(ENVIRONMENT),
      changeAnswers((body) => body.replace(/"active_version":.*/s, '"x":0}')),
    );
    const { names } = await findDeviations(stale, clock);
    expect(names).toEqual([...UNREAD, 'error activation']);
    expect(clock.now() - start).toBeLessThan(40_000);
  });

  /** Answers 404 for an environment without an active version. */
  const answerEmptyEnvironment: Fault = async (request, forward) => {
    const answer = await forward(request);
    const isEmpty = request.path.includes('?environment=') && answer.body.includes('"active_version":null');
    return isEmpty ? { status: 404, body: '{}' } : answer;
  };

  test('doctor --write only warns if the service answers 404 for an environment until the first activation is visible', async () => {
    const clock = makeClock();
    const isReadAtStart: RequestFilter = (request) => isReadOf(ENVIRONMENT)(request) && clock.now() - start < 2_000;
    const start = clock.now();
    const fault: Fault = async (request, forward) =>
      isReadAtStart(request) ? { status: 404, body: '{}' } : answerEmptyEnvironment(request, forward);
    const { names } = await findDeviations(fault, clock);
    expect(names).toEqual(['warning activation', 'warning no active version']);
  });

  test('doctor --write reports an error if the service answers 404 for an unknown version, but clears the environment', async () => {
    let isCleared = false;
    const fault: Fault = async (request, forward) => {
      if (isActivationOfUnknown('unknown')(request)) isCleared = true;
      if (isCleared && isReadOf(ENVIRONMENT)(request)) return { status: 404, body: '{}' };
      return answerEmptyEnvironment(request, forward);
    };
    const { checked } = await findDeviations(fault, makeClock());
    expect(checked.find(({ name }) => name === 'unknown version')).toMatchObject({
      level: 'error',
      found: 'refused, but the environment changed anyway',
    });
    expect(checked.find(({ name }) => name === "another prompt's version")?.level).toBe('ok');
  });

  test("doctor --write names the broken rule if another prompt's version changes the environment despite a 404", async () => {
    const fault = faultOn(isActivationOfUnknown('other'), async (request, forward) => {
      const answer = await forward(request);
      if (answer.status !== 404) return answer;
      await forward({ ...request, body: { environment: ENVIRONMENT, version_id: firstVersion } });
      return answer;
    });
    const { check, service } = await makeStage(fault);
    const firstVersion = service.store.readPrompt('prm_scratch')!.latest_version_id;
    const { named, point } = await check();
    expect(named('error')).toEqual(["another prompt's version"]);
    expect(point("another prompt's version").hint).toContain('return 404 for a version that belongs to another prompt');
  });

  test('doctor --write does not blame a refused request for an earlier activation that becomes visible late', async () => {
    const clock = makeClock();
    let refusedAt = Number.POSITIVE_INFINITY;
    let first: Awaited<ReturnType<Parameters<Fault>[1]>> | null = null;
    const fault: Fault = async (request, forward) => {
      if (isActivationOfUnknown('unknown')(request)) refusedAt = clock.now();
      if (!isReadOf(ENVIRONMENT)(request) || refusedAt !== Number.POSITIVE_INFINITY) return null;
      first ??= await forward(request);
      return first;
    };
    const { names } = await findDeviations(fault, clock);
    expect(names.filter((name) => name.startsWith('error'))).toEqual(['error activation']);
  });

  test('doctor --write warns if the service reports the newest version late', async () => {
    const clock = makeClock();
    const { names, deviations } = await findDeviations(cached(isReadOfScratch, 3, clock.now), clock);
    expect(names).toEqual(['warning latest_version_id']);
    expect(deviations[0]!.found).toMatch(/^reported only after \d\.\d s$/);
  });

  test('doctor --write does not retry a create request whose response was lost, and lists the version that it may have created', async () => {
    const { check, front, service } = await makeStage(faultOn(isCreate, cutAfter, 2));
    const { exitCode, point } = await check();
    expect(exitCode).toBe(1);
    expect(point('text: CRLF')).toMatchObject({ level: 'error', found: expect.stringContaining('lost') });
    const texts = front.requests.filter(isCreate).map(({ body }) => (body as Sent).content);
    expect(texts).toHaveLength(4);
    expect(new Set(texts).size).toBe(4);
    expect(point('left behind').found).toMatch(
      /the versions v2 \([^,]*\), v4 \(.*, and perhaps the version ver_[^,]*, because/,
    );
    const { latest_version_id: newest } = service.store.readPrompt('prm_scratch')!;
    expect(point('left behind').found).toContain(`v5 (${newest})`);
  });

  test('if doctor --write is interrupted, it sends nothing more, lists the versions and exits with 130', async () => {
    let interrupt = (): void => {};
    const { check, front } = await makeStage(
      faultOn(
        isCreate,
        async (request, forward) => {
          const answer = await forward(request);
          interrupt();
          return answer;
        },
        2,
      ),
    );
    const { exitCode, points, point } = await check(WRITE, { onSignal: (signal) => void (interrupt = signal) });
    expect(exitCode).toBe(130);
    expect(front.requests.at(-1)!.path).toMatch(/versions$/);
    expect(point('other points').found).toContain('interrupted');
    expect(point('left behind').found).toMatch(/v2 \(ver_.*, v3 \(ver_/);
    expect(points.at(-1)!.name).toBe('left behind');
  });
});

describe('what doctor --write left behind', () => {
  const acceptAll = faultOn(isActivationOf(ENVIRONMENT), answers(200, '{"updated":true}'));
  const refuseCreates = faultOn(isCreate, answers(403));

  test('doctor --write lists no versions and no environment if the service refused every write', async () => {
    const { checked } = await findDeviations(refuseCreates);
    expect(checked.at(-1)).toMatchObject({ name: 'left behind', found: 'nothing' });
  });

  test('doctor --write lists its environment if the service accepted only the activation of an unknown version', async () => {
    const { checked } = await findDeviations(
      async (...request) => (await refuseCreates(...request)) ?? acceptAll(...request),
    );
    expect(checked.at(-1)?.found).toBe(`in the prompt "prm_scratch": the environment "${ENVIRONMENT}"`);
  });

  test('doctor --write shortens ids that are a megabyte long', async () => {
    const longer = changeAnswers((body) => body.replace('"id":"ver_', `"id":"${'x'.repeat(1_000_000)}`));
    const { checked } = await findDeviations(faultOn(isCreate, longer), makeClock());
    expect(checked.at(-1)?.found).toMatch(/^in the prompt "prm_scratch": the versions v2 \(x{100}…\), /);
  });

  test('doctor --write does not list its environment if the service has refused all activations', async () => {
    const { checked } = await findDeviations(faultOn(isActivationOf(ENVIRONMENT), answers(403)));
    expect(checked.at(-1)?.found).toMatch(/^in the prompt "prm_scratch": the versions v2 /);
  });

  test('doctor --write says that it may have changed its environment if the response to each activation was lost', async () => {
    const { checked } = await findDeviations(faultOn(isActivationOf(ENVIRONMENT), cutAfter));
    expect(checked.at(-1)?.found).toContain(`perhaps the environment "${ENVIRONMENT}", and the versions v2 `);
  });

  test('doctor --write says that it may have created a version if the responses to all creates were lost', async () => {
    const { check } = await makeStage(faultOn(isCreate, cutAfter));
    const { point } = await check();
    expect(point('metadata_').found).toBe('not checked, because the service returned no new version');
    expect(point('left behind').found).toMatch(/^in the prompt "prm_scratch": perhaps the version ver_/);
  });

  test('if doctor --write is interrupted after the first create, it does not say that the service created no version', async () => {
    let interrupt = (): void => {};
    const fault = faultOn(isCreate, async (request, forward) => {
      const answer = await forward(request);
      interrupt();
      return answer;
    });
    const { check } = await makeStage(fault);
    const { points, point } = await check(WRITE, { onSignal: (signal) => void (interrupt = signal) });
    expect(points.slice(-3).map(({ name }) => name)).toEqual(['conformance check', 'other points', 'left behind']);
    expect(point('left behind').found).toMatch(/^in the prompt "prm_scratch": the version v2 /);
  });
});

describe('the conditions for doctor --write', () => {
  test.each<[string, readonly string[], string]>([
    ['doctor --write refuses to run without --prompt', ['--write', '--yes'], '--prompt ID'],
    [
      'doctor --write refuses a prompt that has a file in the workspace',
      ['--write', '--yes', '--prompt', 'prm_greeting'],
      'no prompt file',
    ],
    [
      'doctor --write refuses an id that cannot be part of a path',
      ['--write', '--yes', '--prompt', 'a/b'],
      'Check the id',
    ],
    [
      'doctor --write refuses a prompt that does not exist in the service',
      ['--write', '--yes', '--prompt', 'prm_unknown'],
      'Check the id',
    ],
    ['without a terminal, doctor --write requires --yes', ['--write', '--prompt', 'prm_scratch'], '--yes'],
  ])('%s', async (_, words, hint) => {
    const { check, front } = await makeStage();
    const { exitCode, point } = await check(words);
    expect(exitCode).toBe(1);
    expect(point('conformance check')).toMatchObject({ level: 'error', hint: expect.stringContaining(hint) });
    expect(front.takeWrites()).toEqual([]);
  });

  test('with CI=true, doctor --write needs no --yes', async () => {
    const { check } = await makeStage();
    const words = ['--write', '--prompt', 'prm_scratch'];
    expect(await check(words, { environment: { CI: 'true' } })).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ['y\n', 0],
    ['n\n', 1],
    ['', 1],
  ])('on a terminal, doctor --write asks for confirmation (answer: %j)', async (input, exitCode) => {
    const { folder, environment, front } = await makeStage();
    const words = ['doctor', '--write', '--prompt', 'prm_scratch'];
    const ran = await run(folder, words, { environment, terminal: true, input });
    expect(ran).toMatchObject({ exitCode, stderr: expect.stringContaining('prm_scratch') });
    expect(front.takeWrites().length > 0).toBe(exitCode === 0);
  });

  test('doctor --write writes nothing if the service refuses the key', async () => {
    const { check, front } = await makeStage();
    const { exitCode, point } = await check(WRITE, { environment: { PROMPTSYNC_API_KEY: 'sk-wrong-0123456789' } });
    expect(exitCode).toBe(1);
    expect(point('conformance check').found).toContain('not checked');
    expect(front.takeWrites()).toEqual([]);
  });

  test('doctor --write writes nothing if a prompt file is invalid, because it might be the file of the throwaway prompt', async () => {
    const { environment, front } = await makeStage();
    const folder = makeWorkspace({ 'promptsync.yaml': CONFIG, 'prompts/a.md': '---\nid: prm_scratch\n---\n' });
    const { point } = await examine(folder, WRITE, { environment });
    expect(point('conformance check').found).toContain('not checked');
    expect(front.takeWrites()).toEqual([]);
  });

  test("doctor --write works before the first prompt file, but cannot check a different prompt's version", async () => {
    const { environment } = await makeStage();
    const folder = makeWorkspace({ 'promptsync.yaml': CONFIG });
    const { exitCode, point } = await examine(folder, WRITE, { environment });
    expect(exitCode).toBe(0);
    expect(point('activation').level).toBe('ok');
    expect(point("another prompt's version").level).toBe('warning');
  });
});

describe('doctor --write on Langfuse', () => {
  const PROMPT = /^promptsync-doctor-[a-z0-9]{1,8}$/;

  async function makeLangfuseStage() {
    const langfuse = await startLangfuse();
    const folder = makeWorkspace({ 'promptsync.yaml': `service: { provider: langfuse }\n${CONFIG}` });
    const check = (words: readonly string[] = ['--write', '--yes'], options: RunOptions = {}) =>
      examine(folder, words, { ...options, environment: langfuse.environment });
    return { langfuse, check };
  }

  /** Runs the check against Langfuse behind a gateway with a fault. */
  async function checkThroughFront(langfuse: LangfuseDouble, fault: Fault, options: RunOptions = {}) {
    const target = langfuse.baseUrl;
    const front = await startFront({ target, answer: (request) => fault(request, (one) => handOn(one, target)) });
    const folder = makeWorkspace({ 'promptsync.yaml': `service: { provider: langfuse }\n${CONFIG}` });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    return examine(folder, ['--write', '--yes'], { ...options, environment });
  }

  function namesOf({ requests }: LangfuseDouble): readonly string[] {
    const names = requests.flatMap(({ path, body }) => [
      /prompts\/([^/?]+)/.exec(path)?.[1],
      (body as { readonly name?: string } | undefined)?.name,
    ]);
    return [...new Set(names.filter((name) => name !== undefined))];
  }

  test('doctor --write creates its own prompt, reports every point as ok, and deletes the prompt', async () => {
    const { langfuse, check } = await makeLangfuseStage();
    await langfuse.store.create({ name: 'mine', prompt: 'Hi.', labels: ['production'] });
    const { exitCode, points, point } = await check();
    expect(exitCode).toBe(0);
    const names = points.map(({ name, level }) => `${level} ${name}`);
    expect(names.slice(names.indexOf('ok conformance check'))).toEqual(
      [
        ...['conformance check', 'text: white space', 'text: CRLF', 'text: Unicode', 'text: 100 kB', 'config'],
        ...['version numbers', 'newest version', 'activation', 'unknown version', 'unknown prompt', 'wrong key'],
        ...['no active version', 'left behind'],
      ].map((name) => `ok ${name}`),
    );
    expect(point('left behind').found).toBe('nothing');
    expect((await langfuse.store.list({})).data.map(({ name }) => name)).toEqual(['mine']);
    expect(namesOf(langfuse).filter((name) => !PROMPT.test(name.replace(/-unknown$/, '')))).toEqual([]);
  });

  test('doctor --write reports an error if the service changes a config that is nested 3,000 levels deep, and still deletes its prompt', async () => {
    const { langfuse } = await makeLangfuseStage();
    const config = `{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`;
    const { point } = await checkThroughFront(langfuse, async (request, forward) => {
      if (request.method !== 'GET' || !request.path.includes(`label=${ENVIRONMENT}&`)) return null;
      const answer = await forward(request);
      return { ...answer, body: answer.body.replace(/"config":\{.*?\]\}\}/, `"config":${config}`) };
    });
    expect(point('config')).toMatchObject({ level: 'error', found: 'Langfuse changed it' });
    expect(point('left behind').found).toBe('nothing');
    expect((await langfuse.store.list({})).data).toEqual([]);
  });

  test('doctor --write reports an error if a gateway changes texts, even if it refuses to activate versions', async () => {
    const { langfuse } = await makeLangfuseStage();
    const { point } = await checkThroughFront(langfuse, async (request, forward) => {
      if (request.method === 'PATCH') return { status: 403, body: '{"message":"no"}' };
      if (request.method !== 'POST') return null;
      return forward({ ...request, body: { ...Object(request.body), prompt: 'Changed.', config: {} } });
    });
    expect(point('activation').level).toBe('error');
    expect(point('text: CRLF')).toMatchObject({ level: 'error', found: expect.stringContaining('with changes') });
    expect(point('config')).toMatchObject({ level: 'error', found: 'Langfuse dropped it' });
  });

  test('doctor --write does not call a text unchanged if it could not read the text back', async () => {
    const { langfuse } = await makeLangfuseStage();
    const isVersionRead: RequestFilter = ({ method, path }) => method === 'GET' && /[?&](label|version)=/.test(path);
    const { point } = await checkThroughFront(langfuse, faultOn(isVersionRead, answers(403)), makeClock());
    const unread = { level: 'warning', found: 'not checked, because Langfuse did not return the stored version' };
    expect([point('text: CRLF'), point('config')]).toMatchObject([unread, unread]);
  });

  test('doctor --write reports the name of its own prompt if it could not delete the prompt', async () => {
    const { langfuse, check } = await makeLangfuseStage();
    langfuse.fail({ method: 'DELETE', path: /doctor/ }, { status: 403, body: { message: 'Read-only key' } });
    const { exitCode, point } = await check();
    expect(exitCode).toBe(1);
    expect(point('left behind')).toMatchObject({
      level: 'error',
      hint: expect.stringMatching(/^Delete the prompt "promptsync-doctor-\w+" in Langfuse\.$/),
    });
  });

  test.each<[string, Fault]>([
    ['doctor --write reports a prompt that is still there after a DELETE with the status 404', answers(404)],
    ['doctor --write reports a prompt that is still there after a successful DELETE', answers(200, '{}')],
  ])('%s', async (_, fault) => {
    const { langfuse } = await makeLangfuseStage();
    const isDelete: RequestFilter = ({ method }) => method === 'DELETE';
    const { exitCode, point } = await checkThroughFront(langfuse, faultOn(isDelete, fault), makeClock());
    expect(exitCode).toBe(1);
    const [name] = (await langfuse.store.list({})).data.map((prompt) => prompt.name);
    expect(point('left behind')).toMatchObject({ level: 'error', hint: `Delete the prompt "${name}" in Langfuse.` });
  });

  test('doctor --write still deletes its prompt if a response was lost', async () => {
    const { langfuse, check } = await makeLangfuseStage();
    langfuse.fail({ method: 'POST', path: /prompts$/ }, 'lost-answer');
    const { point } = await check();
    expect(point('text: white space').level).toBe('error');
    expect(point('left behind').found).toBe('nothing');
    expect((await langfuse.store.list({})).data).toEqual([]);
  });

  test('doctor --write deletes nothing if it could not create a prompt', async () => {
    const { langfuse, check } = await makeLangfuseStage();
    langfuse.fail({ method: 'POST', path: /prompts$/ }, { status: 403, body: { message: 'Read-only key' } }, 99);
    const { exitCode, point } = await check();
    expect(exitCode).toBe(1);
    expect(point('left behind').found).toBe('nothing');
    expect(langfuse.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });

  test('with Langfuse, an interrupted doctor --write deletes its prompt, checks the deletion, and sends no other request', async () => {
    const { langfuse, check } = await makeLangfuseStage();
    let interrupt = (): void => {};
    const { exitCode, point } = await check(['--write', '--yes', '--verbose'], {
      onSignal: (signal) => void (interrupt = signal),
      onError: (text) => {
        if (text.startsWith('POST')) interrupt();
      },
    });
    expect(exitCode).toBe(130);
    expect(point('left behind').found).toBe('nothing');
    expect((await langfuse.store.list({})).data).toEqual([]);
    const afterCreate = langfuse.requests.slice(langfuse.requests.findIndex(({ method }) => method === 'POST') + 1);
    expect(afterCreate.map(({ method }) => method)).toEqual(['DELETE', 'GET']);
  });

  test('doctor --write refuses --prompt in Langfuse, because it creates a prompt of its own there', async () => {
    const { langfuse, check } = await makeLangfuseStage();
    const { exitCode, point } = await check(['--write', '--yes', '--prompt', 'mine']);
    expect(exitCode).toBe(1);
    expect(point('conformance check').hint).toContain('without `--prompt`');
    expect(langfuse.takeWrites()).toEqual([]);
  });
});
