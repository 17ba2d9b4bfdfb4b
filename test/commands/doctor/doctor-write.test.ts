import { describe, expect, test } from 'vitest';
import { examineConformance } from '../../../src/commands/doctor/examine-conformance.ts';
import type { System } from '../../../src/domain/system.ts';
import {
  changeAnswers,
  cutAfter,
  faultOn,
  isActivationOf,
  isCreate,
  type Fault,
  type RequestFilter,
  type Sent,
} from './faulty-answers.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { makeWorkspace } from '../../support/folder.ts';
import { handOn, startFront } from '../../support/front.ts';
import { CONFIG, workspaceFiles } from '../../support/prompts.ts';
import { changeService, startTestService } from '../../support/service.ts';
import { examine, openFolder, readSections } from './doctoring.ts';

const ENVIRONMENT = 'promptsync-doctor';
const WRITE = ['--write', '--prompt', 'prm_scratch', '--yes'];

/** The points of the check, in order. */
const POINTS = [
  ...['conformance check', 'text: white space', 'text: CRLF', 'text: Unicode', 'text: 100 kB'],
  ...['metadata_', 'version numbers', 'latest_version_id', 'activation'],
  ...['unknown version', "another prompt's version", 'unknown prompt', 'wrong key', 'no active version', 'left behind'],
];

/** Makes a front with a fault before a service. */
function startFaulty(target: string, fault: Fault = async () => null) {
  return startFront({ target, answer: (request) => fault(request, (one) => handOn(one, target)) });
}

/** Refuses with a status. */
function answers(status: number, body = '{"detail":"no"}'): Fault {
  return async () => ({ status, body });
}

/** Runs only the check of the service. Only waiting advances its clock. */
async function check(folder: string, environment: System['environment'], changes: Partial<System>, prompt?: string) {
  const { system, workspace } = await openFolder(folder, environment);
  let time = 0;
  const clock: Pick<System, 'now' | 'sleep'> = {
    now: () => time,
    sleep: async (milliseconds) => void (time += milliseconds),
  };
  const options = { prompt, yes: changes.confirm === undefined };
  return readSections(await examineConformance(true, options, workspace, { ...system, ...clock, ...changes }));
}

describe('doctor --write on a four-call service', () => {
  /** Makes a workspace with two prompts, the first without a version, and a service that also has the prompt `scratch`. */
  async function makeStage(fault?: Fault) {
    const service = await startTestService(['empty', 'greeting', 'scratch']);
    await changeService(service.baseUrl, 'greeting', 'staging', 'Hi.');
    await changeService(service.baseUrl, 'scratch', 'production', 'Scratch.');
    const front = await startFaulty(service.baseUrl, fault);
    const folder = makeWorkspace(workspaceFiles({ empty: {}, greeting: {} }));
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const checkWith = (changes: Partial<System> = {}, prompt: string | undefined = 'prm_scratch') =>
      check(folder, environment, changes, prompt);
    const serves = (name: string) =>
      service.store.readPrompt('prm_scratch', name)?.active_version?.version_number ?? null;
    return { service, front, folder, environment, check: checkWith, serves };
  }

  test('doctor --write reports every point of the embedded service as ok, and changes only its own environment', async () => {
    const { folder, environment, service, front, serves } = await makeStage();
    const { exitCode, points, point } = await examine(folder, WRITE, { environment });
    expect(exitCode).toBe(0);
    expect(points.slice(-POINTS.length).map(({ name, level }) => `${level} ${name}`)).toEqual(
      POINTS.map((name) => `ok ${name}`),
    );
    expect(point('version numbers').found).toBe('increasing: v2, v3, v4, v5');
    const newest = service.store.readPrompt('prm_scratch')?.latest_version_id;
    expect(point('left behind').found).toContain(`"${ENVIRONMENT}"`);
    expect(point('left behind').found).toContain(`v5 (${newest})`);
    expect({ doctor: serves(ENVIRONMENT), production: serves('production') }).toEqual({ doctor: 5, production: 1 });
    const writes = front.requests.filter(({ method }) => method !== 'GET');
    expect(new Set(writes.map(({ path }) => path))).toEqual(
      new Set(['versions', 'set-active'].map((what) => `/v1/integration/prompts/prm_scratch/${what}`)),
    );
    const changed = writes.flatMap(({ body }) => (body as { readonly environment?: string }).environment ?? []);
    expect(new Set(changed)).toEqual(new Set([ENVIRONMENT]));
  });

  test('doctor --write does not retry a create request whose response was lost, and lists the version that it may have created', async () => {
    const { check: checkNow, front, service } = await makeStage(faultOn(isCreate, cutAfter, 2));
    const { point } = await checkNow();
    expect(point('text: CRLF')).toMatchObject({ level: 'error', found: expect.stringContaining('lost') });
    const texts = front.requests.filter(isCreate).map(({ body }) => (body as Sent).content);
    expect([texts.length, new Set(texts).size]).toEqual([4, 4]);
    const { latest_version_id: newest } = service.store.readPrompt('prm_scratch')!;
    expect(point('left behind').found).toMatch(
      /the versions v2 \([^,]*\), v4 \(.*, and perhaps the version ver_[^,]*, because/,
    );
    expect(point('left behind').found).toContain(`v5 (${newest})`);
  });

  const acceptAll = faultOn(isActivationOf(ENVIRONMENT), answers(200, '{"updated":true}'));
  const refuseCreates = faultOn(isCreate, answers(403));
  const longId = changeAnswers((body) => body.replace('"id":"ver_', `"id":"${'x'.repeat(9_000)}`));
  const refuseActivations = faultOn(isActivationOf(ENVIRONMENT), answers(200, '{"updated":false}'));
  const either =
    (...faults: readonly [Fault, Fault]): Fault =>
    async (...request) =>
      (await faults[0](...request)) ?? faults[1](...request);
  const OWN = /^in the prompt "prm_scratch": the environment "promptsync-doctor"$/;
  const LONG = /^in the prompt "prm_scratch": the versions v2 \(x{100}…\), /;

  test.each<[string, Fault, RegExp]>([
    ['doctor --write lists as left behind nothing if the service refused every write', refuseCreates, /^nothing$/],
    ['doctor --write lists its environment after an accepted unknown version', either(refuseCreates, acceptAll), OWN],
    [
      'doctor --write lists as left behind shortened ids, and no refused environment',
      either(faultOn(isCreate, longId), refuseActivations),
      LONG,
    ],
    [
      'doctor --write lists as left behind a possible activation',
      faultOn(isActivationOf(ENVIRONMENT), cutAfter),
      /perhaps the environment "promptsync-doctor"/,
    ],
  ])('%s', async (_, fault, found) => {
    const { check: checkNow } = await makeStage(fault);
    expect((await checkNow()).point('left behind').found).toMatch(found);
  });

  test('if doctor --write is interrupted, it sends nothing more, and lists the versions that it created', async () => {
    let interrupt = (): void => {};
    const stop: Fault = async (request, forward) => {
      const answer = await forward(request);
      interrupt();
      return answer;
    };
    const { folder, environment, front } = await makeStage(faultOn(isCreate, stop, 2));
    const { exitCode, points, point } = await examine(folder, WRITE, {
      environment,
      onSignal: (signal) => void (interrupt = signal),
    });
    expect(exitCode).toBe(130);
    expect(front.requests.at(-1)!.path).toMatch(/versions$/);
    expect(point('other points').found).toContain('interrupted');
    expect(points.at(-1)).toMatchObject({
      name: 'left behind',
      found: expect.stringMatching(/v2 \(ver_.*, v3 \(ver_/),
    });
  });

  test('doctor --write requires a throwaway prompt that exists and has no file, and a confirmation', async () => {
    const { check: checkNow, front } = await makeStage();
    const check = async (changes: Partial<System>, prompt: string | undefined) =>
      (await checkNow(changes, prompt)).point('conformance check');
    for (const [prompt, hint] of [
      ['prm_greeting', 'no prompt file'],
      ['prm_unknown', 'Check the id'],
    ] as const) {
      expect(await check({}, prompt)).toMatchObject({ level: 'error', hint: expect.stringContaining(hint) });
    }
    expect(await check({ confirm: null }, 'prm_scratch')).toMatchObject({ hint: expect.stringContaining('--yes') });
    const questions: string[] = [];
    const confirm = async (question: string): Promise<boolean> => {
      questions.push(question);
      return questions.length > 1;
    };
    expect((await check({ confirm }, 'prm_scratch')).found).toContain('you did not confirm');
    expect(front.takeWrites()).toEqual([]);
    expect((await check({ confirm }, 'prm_scratch')).level).toBe('ok');
    expect(questions[0]).toContain('prm_scratch');
    expect(front.takeWrites()).not.toEqual([]);
  });

  test('doctor --write needs --prompt, writes nothing if another check fails, and needs no --yes with CI=true', async () => {
    const { folder, environment, front } = await makeStage();
    const unnamed = await examine(folder, ['--write', '--yes'], { environment });
    expect(unnamed.point('conformance check').hint).toContain('--prompt ID');
    const wrongKey = { ...environment, PROMPTSYNC_API_KEY: 'sk-wrong-0123456789' };
    const refused = await examine(folder, WRITE, { environment: wrongKey });
    expect(refused.point('conformance check').found).toContain('not checked');
    // The invalid file might be the file of the throwaway prompt.
    const invalid = makeWorkspace({ 'promptsync.yaml': CONFIG, 'prompts/a.md': '---\nid: prm_scratch\n---\n' });
    const unread = await examine(invalid, WRITE, { environment });
    expect(unread.point('conformance check').found).toContain('not checked');
    expect(front.takeWrites()).toEqual([]);
    const inCi = { ...environment, CI: 'true' };
    const { exitCode } = await examine(folder, WRITE.slice(0, 3), { environment: inCi });
    expect(exitCode).toBe(0);
  });
});

describe('doctor --write on Langfuse', () => {
  /** Runs the check against Langfuse behind a gateway with a fault. */
  async function makeStage(fault?: Fault) {
    const langfuse = await startLangfuse();
    const front = await startFaulty(langfuse.baseUrl, fault);
    const folder = makeWorkspace({ 'promptsync.yaml': `service: { provider: langfuse }\n${CONFIG}` });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    const list = async () => (await langfuse.store.list({})).data.map(({ name }) => name);
    return { langfuse, front, folder, environment, list, check: () => check(folder, environment, {}) };
  }

  const isDelete: RequestFilter = ({ method }) => method === 'DELETE';

  test('doctor --write creates its own prompt, reports every point as ok, and deletes the prompt', async () => {
    const { langfuse, front, folder, environment, list } = await makeStage();
    await langfuse.store.create({ name: 'mine', prompt: 'Hi.', labels: ['production'] });
    const { exitCode, points, point } = await examine(folder, ['--write', '--yes'], { environment });
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
    expect(await list()).toEqual(['mine']);
    const written = front.requests.flatMap(({ path, body }) => [
      /prompts\/([^/?]+)/.exec(path)?.[1] ?? [],
      (body as { readonly name?: string } | undefined)?.name ?? [],
    ]);
    const promptNames = written.flat().map((name) => name.replace(/-unknown$/, ''));
    expect(promptNames.filter((name) => !/^promptsync-doctor-[a-z0-9]{1,8}$/.test(name))).toEqual([]);
    const refused = await examine(folder, ['--write', '--yes', '--prompt', 'mine'], { environment });
    expect(refused.point('conformance check').hint).toContain('without `--prompt`');
  });

  test.each<[title: string, fault: Fault, points: Readonly<Record<string, object>>]>([
    [
      'doctor --write reports an error if a gateway changes texts, even if it refuses to activate versions',
      async (request, forward) => {
        if (request.method === 'PATCH') return { status: 403, body: '{"message":"no"}' };
        if (request.method !== 'POST') return null;
        return forward({ ...request, body: { ...Object(request.body), prompt: 'Changed.', config: {} } });
      },
      {
        activation: { level: 'error' },
        'text: CRLF': { level: 'error', found: expect.stringContaining('with changes') },
        config: { level: 'error', found: 'Langfuse dropped it' },
      },
    ],
    [
      'doctor --write still deletes its prompt if a response was lost',
      faultOn(({ method }) => method === 'POST', cutAfter, 1),
      { 'text: white space': { level: 'error' } },
    ],
    [
      'doctor --write deletes nothing if it could not create a prompt',
      async ({ method }) => {
        if (method === 'DELETE') throw new Error('there is nothing to delete');
        return method === 'POST' ? { status: 403, body: '{"message":"Read-only key"}' } : null;
      },
      { 'text: CRLF': { level: 'error' } },
    ],
  ])('%s', async (_, fault, expected) => {
    const { check: checkNow, list } = await makeStage(fault);
    const { point } = await checkNow();
    for (const [name, part] of Object.entries(expected)) expect(point(name)).toMatchObject(part);
    expect(point('left behind')).toMatchObject({ level: 'ok', found: 'nothing' });
    expect(await list()).toEqual([]);
  });

  test.each<[string, Fault]>([
    ['doctor --write reports its own prompt if Langfuse refuses the DELETE', answers(403)],
    ['doctor --write reports a prompt that is still there after a DELETE with the status 404', answers(404)],
  ])('%s', async (_, fault) => {
    const { check: checkNow, list } = await makeStage(faultOn(isDelete, fault));
    const { point } = await checkNow();
    const [name] = await list();
    expect(name).toMatch(/^promptsync-doctor-/);
    expect(point('left behind')).toMatchObject({ level: 'error', hint: `Delete the prompt "${name}" in Langfuse.` });
  });

  test('with Langfuse, an interrupted doctor --write deletes its prompt, checks the deletion, and sends no other request', async () => {
    const { folder, environment, front, list } = await makeStage();
    let interrupt = (): void => {};
    const { exitCode, point } = await examine(folder, ['--write', '--yes', '--verbose'], {
      environment,
      onSignal: (signal) => void (interrupt = signal),
      onError: (text) => {
        if (text.startsWith('POST')) interrupt();
      },
    });
    expect(exitCode).toBe(130);
    expect(point('left behind').found).toBe('nothing');
    expect(await list()).toEqual([]);
    const afterCreate = front.requests.slice(front.requests.findIndex(({ method }) => method === 'POST') + 1);
    expect(afterCreate.map(({ method }) => method)).toEqual(['DELETE', 'GET']);
  });
});
