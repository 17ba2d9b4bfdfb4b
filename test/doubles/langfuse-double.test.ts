import { describe, expect, test } from 'vitest';
import { SECRET_KEY, startLangfuse, type LangfuseDouble } from './langfuse-server.ts';

/** Calls the double. `words` holds the method and the path below that of the prompts. */
async function call({ baseUrl }: LangfuseDouble, words: string, body?: unknown) {
  const [method = '', path = ''] = words.split(' ');
  const headers = { authorization: `Basic ${Buffer.from(`any:${SECRET_KEY}`).toString('base64')}` };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const answer = await fetch(`${baseUrl}/api/public/v2/prompts${path}`, { method, headers, ...sent });
  const received = await answer.text();
  const parsed: unknown = /^[[{]/.test(received) ? JSON.parse(received) : received;
  return { status: answer.status, body: parsed };
}

/**
 * Starts a double with a prompt `p` of three versions, of which the third is in staging and production. Each further
 * prompt in `names` has one version.
 */
async function startWithVersions(options: Parameters<typeof startLangfuse>[0] = {}, names: readonly string[] = []) {
  const langfuse = await startLangfuse(options);
  for (const textPrompt of ['One.', 'Two.']) langfuse.store.addVersion('p', { text: textPrompt });
  langfuse.store.addVersion('p', { text: 'Three.', labels: ['staging', 'production'] });
  for (const name of names) langfuse.store.addVersion(name, { text: `Of ${name}.`, labels: ['staging'] });
  return langfuse;
}

/** Returns the body of a PATCH. */
const newLabel = (label: string) => ({ newLabels: [label] });

/** Returns the body of a create request for the prompt `p`. */
const textPrompt = (prompt: string, rest: object = {}) => ({ name: 'p', prompt, ...rest });

/** Returns the body of a create request for the prompt `chat`. */
const chatPrompt = (...prompt: readonly unknown[]) => ({ name: 'chat', type: 'chat', prompt });
const system = (content: unknown) => ({ role: 'system', content });
const placeholder = (name: string) => ({ type: 'placeholder', name });

const BIG = '{"name":"p","prompt":"A","config":9007199254740993}';
const FAILED = { message: 'Internal Server Error' };
const INVALID = { message: 'Invalid request data' };
const AMBIGUOUS = { message: expect.stringContaining('placeholders must be unique, the following are not: v') };
const NOT_TEXT = { message: 'Prompt dependency is not a text prompt: part - label latest' };
const OTHER_TYPE = { message: expect.stringContaining('Previous versions have different prompt type.') };
const COMPOSED = textPrompt('@@@langfusePrompt:name=part|label=latest@@@');

type Row = readonly [title: string, words: string, status: number, body: object | string, sent?: unknown];
test.for<Row>([
  ['returns 404 for a PATCH to a missing version', 'PATCH /p/versions/9', 404, {}, newLabel('a')],
  ['rejects the label latest in a PATCH', 'PATCH /p/versions/1', 400, {}, newLabel('latest')],
  ['accepts any other label in a PATCH', 'PATCH /p/versions/1', 200, { labels: ['Übung 1'] }, newLabel('Übung 1')],
  ['rejects an uppercase label in a create request', 'POST ', 400, {}, textPrompt('A', { labels: ['Prod'] })],
  ['rejects a label twice in a create request', 'POST ', 400, {}, textPrompt('A', { labels: ['a', 'a'] })],
  ['rejects a long commit message', 'POST ', 400, {}, textPrompt('A', { commitMessage: 'x'.repeat(501) })],
  ['rejects a body larger than 1 MiB', 'POST ', 413, 'Body exceeded 1mb limit', textPrompt('x'.repeat(2 ** 20))],
  ['returns 500 for a text with a NUL character', 'POST ', 500, FAILED, textPrompt('a\0b')],
  ['returns 500 for a text with a lone surrogate', 'POST ', 500, FAILED, textPrompt('a\uD800b')],
  ['returns 500 for a config with a lone surrogate', 'POST ', 500, FAILED, textPrompt('A', { config: '\uD800' })],
  ['keeps the bytes of a text', 'POST ', 201, { prompt: 'e\u0301\r\n\n' }, textPrompt('e\u0301\r\n\n')],
  ['rounds integers larger than 2^53 in a config', 'POST ', 201, { config: 2 ** 53 }, BIG],
  ['finds a prompt in a folder by its encoded name', 'GET /a%2Fb%20%C3%BC?label=staging', 200, { name: 'a/b ü' }],
  ['finds no prompt with an unencoded slash', 'GET /a/b?label=staging', 404, '<!DOCTYPE html>Not found'],
  ['rejects a text with the type chat', 'POST ', 400, INVALID, { ...chatPrompt(), prompt: 'Hi.' }],
  ['rejects a message whose content is a list', 'POST ', 400, INVALID, chatPrompt(system(['Hi.']))],
  ['rejects a placeholder name with a hyphen', 'POST ', 400, INVALID, chatPrompt(placeholder('a-b'))],
  [
    'rejects a placeholder named like a variable',
    'POST ',
    400,
    AMBIGUOUS,
    chatPrompt(placeholder('v'), system('{{v}}')),
  ],
  ['rejects a text version of a chat prompt', 'POST ', 400, OTHER_TYPE, textPrompt('Hi.', { name: 'part' })],
  ['rejects a text that contains a chat prompt', 'POST ', 400, NOT_TEXT, COMPOSED],
])('the Langfuse test double %s', async ([, words, status, body, sent]) => {
  const langfuse = await startWithVersions({}, ['a/b ü']);
  langfuse.store.addVersion('part', { messages: [] });
  expect(await call(langfuse, words, sent)).toMatchObject({ status, body });
  expect(langfuse.store.versions('p')).toHaveLength(status === 201 ? 4 : 3);
});

test.for(['', '/a', 'a/', 'a//b', 'a|b', 'new', ' ', 'a <b>', 'a\nb'])(
  'the Langfuse test double rejects the prompt name %j',
  async (name) => {
    expect(await call(await startLangfuse(), 'POST ', textPrompt('A', { name }))).toMatchObject({ status: 400 });
  },
);

test('the Langfuse test double stores only the role and content of a message, and the name and type of a placeholder', async () => {
  const langfuse = await startLangfuse();
  const message = { ...system('Hi.'), ...placeholder('a-b'), id: '1' };
  await call(langfuse, 'POST ', chatPrompt(message, { ...placeholder('history'), id: '1' }));
  const [version] = langfuse.store.versions('chat');
  // The database stores the name of a placeholder before its type.
  const stored = '[{"role":"system","content":"Hi."},{"name":"history","type":"placeholder"}]';
  expect(JSON.stringify(version?.prompt)).toBe(stored);
});

/** Makes writes wait until `count` of them have read. Later writes do not wait. */
function waitForReaders(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let readers = 0;
  return () => {
    if (++readers === count) resolve();
    return promise;
  };
}

/** Returns the versions with a label in order of creation. */
function withLabel({ store }: LangfuseDouble, label: string): readonly number[] {
  return store.versions('p').flatMap(({ version, labels }) => (labels.includes(label) ? [version] : []));
}

describe('concurrent writes to the Langfuse double', () => {
  async function callConcurrently(...calls: readonly (readonly [words: string, sent: object])[]) {
    const langfuse = await startWithVersions({ pause: waitForReaders(calls.length) });
    const answers = await Promise.all(calls.map(([words, sent]) => call(langfuse, words, sent)));
    expect(langfuse.store.overlaps()).toBe(calls.length - 1);
    return { langfuse, refused: answers.filter(({ status }) => status === 400).length };
  }
  const patch = (version: number, label: string) => [`PATCH /p/versions/${version}`, newLabel(label)] as const;
  const create = (n: number) => ['POST ', textPrompt(`New ${n}.`, { labels: ['a'] })] as const;

  test('in the Langfuse test double, two concurrent PATCHes leave a label on two versions until another PATCH sets the label', async () => {
    const { langfuse } = await callConcurrently(patch(1, 'a'), patch(2, 'a'));
    expect(withLabel(langfuse, 'a')).toEqual([1, 2]);
    await call(langfuse, ...patch(2, 'a'));
    expect(withLabel(langfuse, 'a')).toEqual([2]);
  });

  test('in the Langfuse test double, a version still has one of its two labels after concurrent PATCHes move both labels away', async () => {
    const { langfuse } = await callConcurrently(patch(1, 'staging'), patch(2, 'production'));
    const versionsWithLabels = ['staging', 'production'].flatMap((label) => withLabel(langfuse, label));
    expect(versionsWithLabels.toSorted()).toEqual([1, 2, 3]);
  });

  test('the Langfuse test double accepts only one of eight concurrent requests to create a version of the same prompt', async () => {
    const { langfuse, refused } = await callConcurrently(...[1, 2, 3, 4, 5, 6, 7, 8].map(create));
    expect([refused, withLabel(langfuse, 'latest')]).toEqual([7, [4]]);
  });
});

describe('sequences of calls to the Langfuse double', () => {
  test('the Langfuse test double reuses the number of the newest version after that version is deleted', async () => {
    const langfuse = await startWithVersions();
    langfuse.store.deleteVersion('p', 3);
    expect(withLabel(langfuse, 'latest')).toEqual([2]);
    expect(await call(langfuse, 'POST ', textPrompt('Other.'))).toMatchObject({ body: { version: 3 } });
  });

  test('if the Langfuse test double cannot resolve the version that previously had a label, it moves the label and then returns 409', async () => {
    const langfuse = await startWithVersions();
    const version = langfuse.store.addComposedVersion('p', '@@@langfusePrompt:name=gone|label=a@@@');
    langfuse.store.addLabel('p', version, 'a');
    expect(await call(langfuse, 'PATCH /p/versions/1', newLabel('a'))).toMatchObject({
      status: 409,
      body: { message: 'Prompt dependency not found: gone - label a' },
    });
    expect(langfuse.store.serves('p', 'a')).toMatchObject({ version: 1 });
  });

  test('in the Langfuse test double, moving a label changes updatedAt of both versions', async () => {
    const langfuse = await startWithVersions();
    const before = langfuse.store.versions('p');
    await call(langfuse, 'PATCH /p/versions/1', newLabel('staging'));
    const updated = langfuse.store.versions('p').filter((row, index) => row.updatedAt !== before[index]?.updatedAt);
    expect(updated.map(({ version }) => version)).toEqual([1, 3]);
  });

  test('the Langfuse test double lists prompts in pages, filters them by name and label, and rejects a limit above 100', async () => {
    const names = Array.from({ length: 120 }, (_, n) => `n/${String(n).padStart(3, '0')}`);
    const langfuse = await startWithVersions({}, names.toReversed());
    const expectPage = async (query: string, data: readonly string[]) => {
      const body = { data: data.map((name) => ({ name })) };
      expect(await call(langfuse, `GET ?${query}`)).toMatchObject({ body });
    };
    await expectPage('', names.slice(0, 10));
    await expectPage('limit=100&page=2', [...names.slice(100), 'p']);
    expect(await call(langfuse, 'GET ?limit=101')).toMatchObject({ status: 400 });
    const data = [{ versions: [3], labels: ['latest', 'production', 'staging'] }];
    expect(await call(langfuse, 'GET ?name=p&label=staging')).toMatchObject({ body: { data } });
  });
});
