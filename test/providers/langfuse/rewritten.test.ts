import { describe, expect, test } from 'vitest';
import { startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import { cloneOf, commitAll, makeRepository, writeFiles } from '../../support/folder.ts';
import { handOn, startFront } from '../../support/front.ts';
import { runJson } from '../../support/run.ts';

type CreateBody = { readonly prompt: string; readonly config: Readonly<Record<string, unknown>> };

/** Starts a Langfuse behind a gateway that changes the body of each request that creates a version. */
async function startBehindGateway(rewrite: (body: CreateBody) => CreateBody) {
  const langfuse = await startLangfuse();
  const front = await startFront({
    target: langfuse.baseUrl,
    answer: (request) =>
      request.method === 'POST'
        ? handOn({ ...request, body: rewrite(request.body as CreateBody) }, langfuse.baseUrl)
        : null,
  });
  return { langfuse, environment: { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl } };
}

const dropModel = ({ config: { model: _, ...config }, ...body }: CreateBody): CreateBody => ({ ...body, config });

function makeFile(text: string, metadata: string): string {
  return `---\nid: a\nmetadata: ${metadata}\npins:\n  staging: latest\n---\n\n${text}\n`;
}

function makeFolder(text: string, metadata: string): string {
  return makeRepository({
    'promptsync.yaml': 'service: { provider: langfuse }\n',
    'prompts/a.md': makeFile(text, metadata),
  });
}

function commitFile(folder: string, text: string, metadata: string, message: string): void {
  writeFiles(folder, { 'prompts/a.md': makeFile(text, metadata) });
  commitAll(folder, message);
}

async function sync(folder: string, environment: LangfuseDouble['environment']) {
  const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--any-commit'], { environment });
  const [prompt] = report.prompts;
  return {
    exitCode,
    errors: prompt?.problems.filter(({ severity }) => severity === 'error').map(({ code }) => code),
    create: prompt?.changes.find(({ kind }) => kind === 'create-version')?.status,
  };
}

const CREATED = { exitCode: 0, errors: [], create: 'made' };
const REWRITTEN = { exitCode: 4, errors: ['apply/rewritten'], create: 'made' };
const REFUSED = { ...REWRITTEN, create: 'not_made' };

describe('sync to a Langfuse behind a gateway that rewrites versions', () => {
  test.each<[sentence: string, text: string, rewrite: (body: CreateBody) => CreateBody]>([
    ['Repeated syncs create only one version if a gateway drops a config key', 'Hello.', dropModel],
    [
      'Repeated syncs create only one version if a gateway changes a config value',
      'Hello.',
      (body) => ({ ...body, config: { ...body.config, model: 'other' } }),
    ],
    [
      'Repeated syncs create only one version if a gateway changes whitespace in the prompt text',
      'Hello  there.',
      (body) => ({ ...body, prompt: body.prompt.replaceAll(/\s+/g, ' ') }),
    ],
  ])('%s', async (_, text, rewrite) => {
    const { langfuse, environment } = await startBehindGateway(rewrite);
    const folder = makeFolder(text, '{ model: gpt-5, temperature: 0 }');
    expect(await sync(folder, environment)).toEqual(REWRITTEN);
    for (let count = 2; count <= 4; count += 1) expect(await sync(folder, environment)).toEqual(REFUSED);
    expect(langfuse.store.versions('a').length).toBe(1);
  });

  test('sync creates a new version once the file no longer contains the config key that the gateway drops', async () => {
    const { langfuse, environment } = await startBehindGateway(dropModel);
    const folder = makeFolder('Hello.', '{ model: gpt-5, temperature: 0 }');
    expect(await sync(folder, environment)).toEqual(REWRITTEN);
    commitFile(folder, 'Hello again.', '{ temperature: 0 }', 'Remove the model');
    expect(await sync(folder, environment)).toEqual(CREATED);
    expect(await sync(folder, environment)).toMatchObject({ exitCode: 0, create: undefined });
    expect(langfuse.store.versions('a').length).toBe(2);
  });

  test('Repeated syncs create only one more version if a gateway drops the config key that the latest commit adds', async () => {
    const { langfuse, environment } = await startBehindGateway(dropModel);
    const folder = makeFolder('Hello.', '{ temperature: 0 }');
    expect(await sync(folder, environment)).toEqual(CREATED);
    commitFile(folder, 'Hello.', '{ model: gpt-5, temperature: 0 }', 'Add the model');
    expect(await sync(folder, environment)).toEqual(REWRITTEN);
    expect(await sync(folder, environment)).toEqual(REFUSED);
    expect(langfuse.store.versions('a').length).toBe(2);
  });
});

describe('sync to a Langfuse server that rounds numbers in a config', () => {
  const SCORE = '{ score: 0.30000000000000004 }';
  const roundScore = (body: CreateBody): CreateBody => ({ ...body, config: { score: 0.3 } });

  test('If Langfuse moves a label when it creates a rewritten version, two consecutive syncs report that the version is active', async () => {
    const { langfuse, environment } = await startBehindGateway(roundScore);
    const folder = makeFolder('Hello.', SCORE);
    for (const status of ['made', 'not_made']) {
      const { report } = await runJson(folder, ['sync', '--yes', '--any-commit'], { environment });
      const [{ changes, problems }] = report.prompts as [(typeof report.prompts)[number]];
      expect(changes.map((change) => change.status)).toEqual([status, status]);
      const [message] = problems.flatMap((problem) => (problem.code === 'apply/rewritten' ? [problem.message] : []));
      expect(message).toMatch(/already active in "staging"/);
      expect(message).not.toMatch(/not activate/);
    }
    expect(langfuse.store.serves('a', 'staging')).toMatchObject({ version: 1, config: { score: 0.3 } });
  });

  test('sync succeeds if the create response contains a rounded number but the stored version contains the planned number', async () => {
    const langfuse = await startLangfuse();
    const front = await startFront({
      target: langfuse.baseUrl,
      answer: async (request) => {
        if (request.method !== 'POST') return null;
        const created = await handOn(request, langfuse.baseUrl);
        return { ...created, body: created.body.replace('0.30000000000000004', '0.3') };
      },
    });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    expect(await sync(makeFolder('Hello.', SCORE), environment)).toEqual(CREATED);
  });
});

describe('sync to a Langfuse that keeps versions as they are', () => {
  test('sync creates a new version for a metadata change even if two commits have the same message', async () => {
    const langfuse = await startLangfuse();
    const folder = makeFolder('Hello.', '{ model: first }');
    for (const model of ['second', 'third']) {
      expect(await sync(folder, langfuse.environment)).toEqual(CREATED);
      commitFile(folder, 'Hello.', `{ model: ${model} }`, 'First prompts');
    }
    expect(await sync(folder, langfuse.environment)).toEqual(CREATED);
    expect(langfuse.store.versions('a').length).toBe(3);
  });

  test('In a shallow clone, sync creates a new version even if the commit of the previous version is not in the clone', async () => {
    const langfuse = await startLangfuse();
    const folder = makeFolder('Hello.', '{ model: first }');
    expect(await sync(folder, langfuse.environment)).toEqual(CREATED);
    commitFile(folder, 'Hello.', '{ model: second }', 'First prompts');
    expect(await sync(cloneOf(folder), langfuse.environment)).toEqual(CREATED);
  });
});

test('If Langfuse reuses the number of a deleted pinned version, sync does not activate the new version in the pinned environment', async () => {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion('a', { text: 'Pinned.' });
  const front = await startFront({
    target: langfuse.baseUrl,
    answer: ({ method }) => {
      // Somebody deletes the only version right before the create, so the new version gets its number.
      if (method === 'POST') langfuse.store.deleteVersion('a', 1);
      return null;
    },
  });
  const folder = makeRepository({
    'promptsync.yaml': 'service: { provider: langfuse }\n',
    'prompts/a.md': '---\nid: a\npins:\n  staging: latest\n  production: 1\n---\n\nNew.\n',
  });
  const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
  expect(await sync(folder, environment)).toEqual({ exitCode: 4, errors: ['apply/other-content'], create: 'made' });
  expect(langfuse.store.serves('a', 'staging')).toMatchObject({ version: 1, text: 'New.' });
  expect(langfuse.store.serves('a', 'production')).toBeNull();
});
