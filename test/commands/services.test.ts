import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serve } from '../../src/commands/serve.ts';
import { sync } from '../../src/commands/sync.ts';
import { changeService } from '../support/change-service.ts';
import { commitAll, git, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront, type Front } from '../support/front.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { KEY, OTHER_KEY, startTestService, type TestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';

type Region = { readonly front: Front; readonly service: TestService };
type Regions = { readonly eu: Region; readonly us: Region; readonly folder: string };

const ENVIRONMENT = { EU_KEY: KEY, US_KEY: OTHER_KEY };
const ASSIGNED = 'prompts: [{ pattern: "prompts/*.md", service: eu }, { pattern: "prompts/us/*.md", service: us }]';

async function startRegion(ids: readonly string[], key: string): Promise<Region> {
  const service = await startTestService(ids, key);
  return { service, front: await startFront({ target: service.baseUrl }) };
}

/** Two prompts in `eu`, two in `us`, and a front before each that sees what key comes. */
async function startRegions(further = ASSIGNED): Promise<Regions> {
  const eu = await startRegion(['greeting', 'refund'], KEY);
  const us = await startRegion(['welcome', 'tax'], OTHER_KEY);
  return { eu, us, folder: makeRegions(eu.front.baseUrl, us.front.baseUrl, further) };
}

function makeRegions(eu: string, us: string, further = ASSIGNED): string {
  const services = `services:\n  us: { base_url: "${us}", api_key_env: US_KEY }\n  eu: { base_url: "${eu}", api_key_env: EU_KEY }\n`;
  return makeWorkspace({
    ...workspaceFiles({ greeting: {}, refund: {} }, `${services}${further}\n`),
    'prompts/us/welcome.md': promptText('welcome'),
    'prompts/us/tax.md': promptText('tax'),
  });
}

function keysIn({ front }: Region): readonly (string | undefined)[] {
  return [...new Set(front.requests.map(({ key }) => key))];
}

function idsIn({ front }: Region): readonly string[] {
  const ids = front.requests.map(({ path }) => /prompts\/([^/?]+)/.exec(path)?.[1] ?? '');
  return [...new Set(ids)].toSorted();
}

describe('each key goes to its own origin alone', () => {
  test.each<[string, readonly string[]]>([
    ['a sync', ['sync', '--yes']],
    ['a dry run', ['sync', '--dry-run']],
    ['status', ['status']],
  ])('%s', async (_, words) => {
    const { eu, us, folder } = await startRegions();
    const { exitCode, report } = await runJson(folder, words, { environment: ENVIRONMENT });
    expect(exitCode).toBe(0);
    expect([keysIn(eu), keysIn(us)]).toEqual([[KEY], [OTHER_KEY]]);
    expect([idsIn(eu), idsIn(us)]).toEqual([
      ['prm_greeting', 'prm_refund'],
      ['prm_tax', 'prm_welcome'],
    ]);
    expect(report.service).toBe(`eu: ${eu.front.baseUrl}, us: ${us.front.baseUrl}`);
    expect(report.prompts.map(({ key, service }) => [key, service])).toEqual([
      ['greeting', 'eu'],
      ['refund', 'eu'],
      ['tax', 'us'],
      ['welcome', 'us'],
    ]);
  });

  test('promote, pull, rollback and history', async () => {
    const { eu, us, folder } = await startRegions();
    await runJson(folder, ['sync', '--yes'], { environment: ENVIRONMENT });
    await changeService(us.service.baseUrl, 'tax', 'staging', 'Text of tax!', OTHER_KEY);
    for (const words of [
      ['promote', '--all', '--from', 'staging', '--to', 'production'],
      ['pull', 'tax'],
      ['history', '*'],
      ['rollback', 'tax', '-e', 'production', '--to', '1'],
    ]) {
      const { exitCode, report } = await runJson(folder, words, { environment: ENVIRONMENT });
      expect({ words, exitCode }).toEqual({ words, exitCode: 0 });
      expect(report.prompts.at(-1)?.service).toBe('us');
    }
    expect(readFileSync(join(folder, 'prompts/us/tax.md'), 'utf8')).toMatch(/"production": 1[^]*Text of tax!\n$/);
    expect([keysIn(eu), keysIn(us)]).toEqual([[KEY], [OTHER_KEY]]);
  });

  test('and what is written arrives where it belongs', async () => {
    const { eu, us, folder } = await startRegions();
    expect(await runJson(folder, ['sync', '--yes'], { environment: ENVIRONMENT })).toMatchObject({ exitCode: 0 });
    const text = ({ service }: Region, id: string) => service.store.readPrompt(id, 'staging')?.activeVersion?.content;
    expect(text(eu, 'prm_greeting')).toBe('Text of greeting.');
    expect(text(us, 'prm_tax')).toBe('Text of tax.');
    eu.front.takeWrites();
    us.front.takeWrites();
    const again = await runJson(folder, ['sync', '--yes'], { environment: ENVIRONMENT });
    expect(again.report.summary).toMatchObject({ prompts: 4, unchanged: 4 });
    expect([eu.front.takeWrites(), us.front.takeWrites()]).toEqual([[], []]);
  });

  test('two projects behind one host, with two keys', async () => {
    const { front } = await startRegion(['greeting', 'refund'], KEY);
    const folder = makeRegions(front.baseUrl, front.baseUrl);
    await runJson(folder, ['status'], { environment: ENVIRONMENT });
    for (const { path, key } of front.requests) {
      expect(key).toBe(/prm_(greeting|refund)/.test(path) ? KEY : OTHER_KEY);
    }
    expect(keysIn({ front, service: await startTestService([]) }).toSorted()).toEqual([KEY, OTHER_KEY].toSorted());
  });
});

describe('which service a prompt belongs to', () => {
  test.each<[string, string, string, string]>([
    ['the only pattern that names one', ASSIGNED, '', 'us'],
    ['the last pattern', ASSIGNED.replace(']', ', { pattern: "**/tax.md", service: eu }]'), '', 'eu'],
    ['a pattern without a service decides nothing', ASSIGNED.replace(']', ', "**/tax.md"]'), '', 'us'],
    ['a pattern goes before the name for all', `${ASSIGNED}\nservice: eu`, '', 'us'],
    ['the file goes before patterns', ASSIGNED, 'eu', 'eu'],
    ['the name for all', 'service: eu', '', 'eu'],
    ['the file goes before the name for all', 'service: eu', 'us', 'us'],
  ])('%s', async (_, further, named, expected) => {
    const folder = makeRegions('https://eu.example', 'https://us.example', further);
    writeFiles(folder, {
      'prompts/us/tax.md': promptText('tax').replace('key:', named === '' ? 'key:' : `service: ${named}\nkey:`),
    });
    const { exitCode, report } = await runJson(folder, ['validate']);
    expect(exitCode).toBe(0);
    expect(report.prompts.find(({ key }) => key === 'tax')?.service).toBe(expected);
  });

  const named = (service: string) => ({
    'prompts/us/tax.md': `---\nservice: ${service}\n${promptText('tax').slice(4)}`,
  });
  test.each<[string, string, Readonly<Record<string, string>>, object]>([
    [
      'a file that nothing assigns',
      'prompts: [{ pattern: "prompts/*.md", service: eu }, "prompts/us/tax.md"]',
      {},
      { code: 'prompt/no-service', line: 1, hint: expect.stringContaining('(us, eu)') },
    ],
    [
      'a misspelt name in a file',
      ASSIGNED,
      named('uss'),
      { code: 'prompt/unknown-service', line: 2, column: 10, hint: 'Did you mean `us`?' },
    ],
    [
      'a name in a file that is not valid otherwise',
      ASSIGNED,
      { 'prompts/us/tax.md': '---\nservice: nowhere\nid: prm_tax\nkey: tax\nname: Tax\n---\n' },
      { code: 'prompt/unknown-service', line: 2 },
    ],
  ])('%s is an error at its place', async (_, further, files, expected) => {
    const folder = makeRegions('https://eu.example', 'https://us.example', further);
    writeFiles(folder, files);
    const { exitCode, report } = await runJson(folder, ['validate']);
    expect(exitCode).toBe(1);
    expect(report.problems).toContainEqual(expect.objectContaining({ path: 'prompts/us/tax.md', ...expected }));
  });

  test('a name in a file where services have none is an error', async () => {
    const folder = makeWorkspace(workspaceFiles({}, 'service: { base_url: "https://a.example" }'));
    writeFiles(folder, named('eu'));
    const { report } = await runJson(folder, ['validate']);
    expect(report.problems).toMatchObject([
      { code: 'prompt/unknown-service', hint: expect.stringContaining('Name it under `services:`') },
    ]);
  });

  test('without names reports have none', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, 'service: { base_url: "https://a.example" }'));
    const { report } = await runJson(folder, ['validate']);
    expect(report.prompts).toEqual([expect.not.objectContaining({ service: expect.anything() })]);
  });
});

describe('keys', () => {
  test('of services that no selected prompt needs are not needed, and those services are not asked', async () => {
    const { eu, us, folder } = await startRegions();
    const words = ['sync', '--yes', '--only', 'prompts/us/*'];
    const { exitCode, report } = await runJson(folder, words, { environment: { US_KEY: OTHER_KEY } });
    expect(exitCode).toBe(0);
    expect(report.service).toBe(`us: ${us.front.baseUrl}`);
    expect([eu.front.requests, keysIn(us)]).toEqual([[], [OTHER_KEY]]);
  });

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['that are missing are told at once', {}, ['EU_KEY', 'US_KEY']],
    ['one that is missing is told, and the other not used', { EU_KEY: KEY }, ['US_KEY']],
    ['one that is empty is missing', { EU_KEY: KEY, US_KEY: '' }, ['US_KEY']],
    ['the usual variable stands for none', { EU_KEY: KEY, PROMPTSYNC_API_KEY: OTHER_KEY }, ['US_KEY']],
  ])('%s', async (_, environment, missing) => {
    const { eu, us, folder } = await startRegions();
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], { environment });
    expect(exitCode).toBe(1);
    expect(report.problems.map(({ code }) => code)).toEqual(missing.map(() => 'config/missing-key'));
    for (const [index, variable] of missing.entries()) expect(report.problems[index]?.message).toContain(variable);
    expect([eu.front.requests, us.front.requests]).toEqual([[], []]);
  });

  test('that two services share are told once', async () => {
    const services = 'services: { a: { base_url: "https://x.example/a" }, b: { base_url: "https://x.example/b" } }';
    const folder = makeWorkspace(workspaceFiles({ greeting: {}, refund: {} }, services));
    writeFiles(folder, {
      'promptsync.yaml': `${services}\nservice: a\nprompts: ["prompts/*.md", { pattern: prompts/refund.md, service: b }]`,
    });
    const { report } = await runJson(folder, ['status']);
    expect(report.problems).toMatchObject([{ code: 'config/missing-key' }]);
  });

  test('all are kept secret: a service may answer with the key of another', async () => {
    const { eu, us } = await startRegions();
    const body = JSON.stringify({ detail: `not with ${OTHER_KEY}` });
    const front = await startFront({ target: eu.service.baseUrl, answer: () => ({ status: 400, body }) });
    const folder = makeRegions(front.baseUrl, us.front.baseUrl);
    const { exitCode } = await runJson(folder, ['status'], { environment: ENVIRONMENT });
    expect(exitCode).toBe(4);
  });
});

test('a prompt that moves is told about from its new service, although the base has it in another', async () => {
  const { eu, us, folder } = await startRegions();
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  commitAll(folder, 'First prompts');
  us.service.store.registerPrompt({ id: 'prm_greeting', projectId: 'project', key: 'greeting', name: 'greeting' });
  writeFiles(folder, { 'prompts/greeting.md': promptText('greeting').replace('---', '---\nservice: us') });
  commitAll(folder, 'Greeting moves');
  const words = ['plan', '--base', 'HEAD~1', '--only', 'greeting'];
  const { exitCode, report } = await runJson(folder, words, { environment: { US_KEY: OTHER_KEY } });
  expect(exitCode).toBe(0);
  expect(report.prompts).toMatchObject([{ service: 'us', status: 'pending' }]);
  expect([eu.front.requests, idsIn(us)]).toEqual([[], ['prm_greeting']]);
});

test('one embedded service that is served by itself knows the prompts of all', async () => {
  const folder = makeRegions('https://eu.example', 'https://us.example');
  const { serving, problems } = await serve({ db: 'all.db', port: 0, seed: true }, makeWorld(folder));
  await serving?.close();
  expect([serving?.prompts, problems]).toEqual([4, []]);
});

describe('a key that was handed over', () => {
  const OPTIONS = {
    ...{ only: [], dryRun: true, yes: false, exitCode: false, allowDirty: false, withTexts: false },
    apiKey: KEY,
  };

  test.each<[string, readonly string[]]>([
    ['could be that of any', []],
    ['would go wherever a file moves', ['greeting']],
  ])('is refused with several keys: it %s', async (_, only) => {
    const { eu, us, folder } = await startRegions();
    const { run, exitCode } = await sync({ ...OPTIONS, only }, makeWorld(folder, ENVIRONMENT));
    expect(exitCode).toBe(1);
    expect(run.problems).toMatchObject([{ code: 'config/key-of-which', hint: expect.stringContaining('EU_KEY') }]);
    expect([eu.front.requests, us.front.requests]).toEqual([[], []]);
  });

  test('is used where there is but one', async () => {
    const { eu } = await startRegions();
    const services = `services: { eu: { base_url: "${eu.front.baseUrl}", api_key_env: EU_KEY } }`;
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, services));
    const { exitCode } = await sync(OPTIONS, makeWorld(folder));
    expect([exitCode, keysIn(eu)]).toEqual([0, [KEY]]);
  });
});

describe('a service that is down', () => {
  test('fails its own prompts, and the others are applied', async () => {
    const { us } = await startRegions();
    const folder = makeRegions('http://127.0.0.1:1', us.front.baseUrl);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], { environment: ENVIRONMENT });
    expect(exitCode).toBe(4);
    expect(report.prompts.map(({ key, status }) => [key, status])).toEqual([
      ['greeting', 'failed'],
      ['refund', 'failed'],
      ['tax', 'applied'],
      ['welcome', 'applied'],
    ]);
  });

  test('is an error where it is the only one that is needed', async () => {
    const { us } = await startRegions();
    const folder = makeRegions('http://127.0.0.1:1', us.front.baseUrl);
    const ran = await runJson(folder, ['status', '--only', 'greeting'], { environment: ENVIRONMENT });
    expect(ran.exitCode).toBe(1);
    expect(us.front.requests).toEqual([]);
  });
});

test('--verbose names the service of each call', async () => {
  const { folder } = await startRegions();
  const { stderr } = await run(folder, ['plan', '--verbose'], { environment: ENVIRONMENT });
  expect(stderr).toMatch(/^eu: GET \/\S+\/prm_greeting\S* 200 \d+ ms$/m);
  expect(stderr).toMatch(/^us: GET \/\S+\/prm_tax\S* 200 \d+ ms$/m);
});

describe('embedded services', () => {
  const servers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const embedded = (us: string) =>
    `services: { eu: { embedded: .promptsync/eu.db }, us: { embedded: "${us}" } }\n${ASSIGNED}\n`;
  const files = (config: string) => ({
    ...workspaceFiles({ greeting: {} }, config),
    'prompts/us/tax.md': promptText('tax'),
  });

  test('know their own prompts alone', async () => {
    const folder = makeWorkspace(files(embedded('.promptsync/us.db')));
    const { exitCode, report } = await runJson(folder, ['sync', '--yes']);
    expect(exitCode).toBe(0);
    expect(report.service).toBe('eu: embedded:.promptsync/eu.db, us: embedded:.promptsync/us.db');
    await expect.poll(servers).toBe(0);
    writeFiles(folder, {
      'promptsync.yaml': 'service: { embedded: .promptsync/eu.db }\nprompts: ["prompts/*.md"]\n',
    });
    expect((await runJson(folder, ['status'])).report.prompts).toMatchObject([
      { key: 'greeting', status: 'unchanged' },
    ]);
  });

  test('one that cannot be started stops the run, and the other is closed', async () => {
    const folder = makeWorkspace(files(embedded('prompts/us')));
    const { exitCode, report } = await runJson(folder, ['sync', '--yes']);
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([{ code: 'usage/cannot-serve' }]);
    await expect.poll(servers).toBe(0);
  });
});
