import { describe, expect, test } from 'vitest';
import { PUBLIC_KEY, SECRET_KEY, startLangfuse, type LangfuseDouble } from './langfuse-server.ts';

/** Makes writes wait until `count` of them have read. Later writes do not wait. */
function waitForReaders(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let readers = 0;
  return () => {
    if (++readers === count) resolve();
    return promise;
  };
}

/** Calls the double. `words` holds the method and the path below that of the prompts. */
async function call({ baseUrl }: LangfuseDouble, words: string, body?: unknown, key = SECRET_KEY) {
  const [method = '', path = ''] = words.split(' ');
  const headers = { authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}` };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const answer = await fetch(`${baseUrl}/api/public/v2/prompts${path}`, { method, headers, ...sent });
  const received = await answer.text();
  const parsed: unknown = /^[[{]/.test(received) ? JSON.parse(received) : received;
  return { status: answer.status, body: parsed, retryAfter: answer.headers.get('retry-after') };
}

/**
 * Starts a double with a prompt `p` of three versions, of which the third is in staging and production. Each further
 * prompt in `names` has one version.
 */
async function startWithVersions(options: Parameters<typeof startLangfuse>[0] = {}, names: readonly string[] = []) {
  const langfuse = await startLangfuse(options);
  for (const textPrompt of ['One.', 'Two.']) langfuse.store.addVersion('p', { text: textPrompt });
  langfuse.store.addVersion('p', { text: 'Three.', config: { model: 'm' }, labels: ['staging', 'production'] });
  for (const name of names) langfuse.store.addVersion(name, { text: `Of ${name}.`, labels: ['staging'] });
  return langfuse;
}

/** Returns the versions with a label in order of creation. */
function withLabel({ store }: LangfuseDouble, label: string): readonly number[] {
  return store.versions('p').flatMap(({ version, labels }) => (labels.includes(label) ? [version] : []));
}

const newLabel = (label: string) => ({ newLabels: [label] });
const textPrompt = (prompt: string, rest: object = {}) => ({ name: 'p', prompt, ...rest });
const chatPrompt = (...prompt: readonly object[]) => ({ name: 'p', type: 'chat', prompt });
const textWithReference = (part: string) => textPrompt(`See @@@langfusePrompt:name=${part}@@@.`);
const BIG = '{"name":"p","prompt":"A","config":9007199254740993}';
const ALL = ['a', 'latest', 'production', 'staging'];
const FAILED = { message: 'Internal Server Error' };

describe('single calls to the Langfuse double', () => {
  type Row = readonly [sentence: string, words: string, sent: unknown, status: number, body: object | string];
  test.for<Row>([
    [
      'the Langfuse test double returns an unlabeled version by its number',
      'GET /p?version=1',
      undefined,
      200,
      { prompt: 'One.' },
    ],
    [
      'the Langfuse test double returns a version by its label',
      'GET /p?label=staging',
      undefined,
      200,
      { version: 3, config: { model: 'm' } },
    ],
    [
      'the Langfuse test double returns the production version by default',
      'GET /p',
      undefined,
      200,
      { version: 3, commitMessage: null },
    ],
    [
      'the Langfuse test double rejects a read that specifies both a version and a label',
      'GET /p?version=1&label=a',
      undefined,
      400,
      {},
    ],
    [
      'the Langfuse test double returns the commit message of a version that it creates',
      'POST ',
      textPrompt('A', { commitMessage: 'Why' }),
      201,
      { commitMessage: 'Why' },
    ],
    [
      'the Langfuse test double rejects a 501-character commit message',
      'POST ',
      textPrompt('A', { commitMessage: 'x'.repeat(501) }),
      400,
      {},
    ],
    [
      'the Langfuse test double keeps the existing labels of a version when a PATCH adds another label',
      'PATCH /p/versions/3',
      newLabel('a'),
      200,
      { labels: expect.arrayContaining(ALL) },
    ],
    [
      'the Langfuse test double keeps all labels if a PATCH contains an empty label list',
      'PATCH /p/versions/3',
      { newLabels: [] },
      200,
      { labels: { length: 3 } },
    ],
    [
      'the Langfuse test double returns 404 for a PATCH to a missing version',
      'PATCH /p/versions/9',
      newLabel('a'),
      404,
      {},
    ],
    [
      'the Langfuse test double accepts the label latest in a create request',
      'POST ',
      textPrompt('A', { labels: ['latest'] }),
      201,
      { labels: ['latest'] },
    ],
    [
      'the Langfuse test double rejects the label latest in a PATCH',
      'PATCH /p/versions/1',
      newLabel('latest'),
      400,
      {},
    ],
    [
      'the Langfuse test double rejects a label with an uppercase letter in a create request',
      'POST ',
      textPrompt('A', { labels: ['Prod'] }),
      400,
      { message: 'Invalid request data' },
    ],
    [
      'the Langfuse test double rejects a 37-character label in a create request',
      'POST ',
      textPrompt('A', { labels: ['x'.repeat(37)] }),
      400,
      {},
    ],
    [
      'the Langfuse test double accepts a label with uppercase letters and spaces in a PATCH',
      'PATCH /p/versions/1',
      newLabel('Übung 1'),
      200,
      { labels: ['Übung 1'] },
    ],
    [
      'the Langfuse test double rejects a request body larger than 1 MiB',
      'POST ',
      textPrompt('x'.repeat(2 ** 20)),
      413,
      'Body exceeded 1mb limit',
    ],
    [
      'the Langfuse test double returns 500 for prompt text with a NUL character',
      'POST ',
      textPrompt('a\0b'),
      500,
      FAILED,
    ],
    [
      'the Langfuse test double returns 500 for prompt text with a lone surrogate',
      'POST ',
      textPrompt('a\uD800b'),
      500,
      FAILED,
    ],
    [
      'the Langfuse test double rejects prompt text that references a missing prompt',
      'POST ',
      textWithReference('no|label=a'),
      400,
      { message: expect.stringContaining('no - label a') },
    ],
    [
      'the Langfuse test double preserves line endings and decomposed Unicode characters in prompt text',
      'POST ',
      textPrompt('e\u0301\r\n\n'),
      201,
      { prompt: 'e\u0301\r\n\n' },
    ],
    [
      'the Langfuse test double accepts a JSON array as the config of a version',
      'POST ',
      textPrompt('A', { config: [1, null] }),
      201,
      { config: [1, null] },
    ],
    ['the Langfuse test double rounds integers larger than 2^53 in a config', 'POST ', BIG, 201, { config: 2 ** 53 }],
    [
      'the Langfuse test double finds a prompt in a folder by its URL-encoded name',
      'GET /a%2Fb%20%C3%BC?label=staging',
      undefined,
      200,
      { name: 'a/b ü' },
    ],
    [
      'the Langfuse test double returns 404 for a prompt name with an unencoded slash',
      'GET /a/b%20%C3%BC?label=staging',
      undefined,
      404,
      '<!DOCTYPE html>Not found',
    ],
    [
      'the Langfuse test double rejects a request to create a text version of a chat prompt',
      'POST ',
      textPrompt('A', { name: 'chat' }),
      400,
      {},
    ],
    ['the Langfuse test double rejects PUT requests', 'PUT /p', undefined, 405, {}],
    [
      'the Langfuse test double accepts a NUL character in a config',
      'POST ',
      textPrompt('A', { config: { a: 'b\0' } }),
      201,
      { config: { a: 'b\0' } },
    ],
    [
      'the Langfuse test double returns 500 for a config with a lone surrogate',
      'POST ',
      textPrompt('A', { config: { a: '\uD800' } }),
      500,
      FAILED,
    ],
    [
      'the Langfuse test double rejects a create request that contains a label twice',
      'POST ',
      textPrompt('A', { labels: ['a', 'a'] }),
      400,
      {},
    ],
    [
      'the Langfuse test double returns 404 for a PATCH with a fractional version number',
      'PATCH /p/versions/1.5',
      newLabel('a'),
      404,
      {},
    ],
    [
      'the Langfuse test double returns 500 for a PATCH with a version number that exceeds 32 bits',
      'PATCH /p/versions/4294967296',
      newLabel('a'),
      500,
      FAILED,
    ],
    [
      'the Langfuse test double returns 500 for a PATCH with a version that is not a number',
      'PATCH /p/versions/three',
      newLabel('a'),
      500,
      FAILED,
    ],
    [
      'the Langfuse test double rejects a placeholder name with a hyphen',
      'POST ',
      chatPrompt({ type: 'placeholder', name: 'a-b' }),
      400,
      {},
    ],
    [
      'the Langfuse test double rejects a placeholder that has the name of a variable',
      'POST ',
      chatPrompt({ type: 'placeholder', name: 'history' }, { role: 'system', content: 'Read {{history}}.' }),
      400,
      {},
    ],
  ])('%s', async ([, words, sent, status, body]) => {
    const langfuse = await startWithVersions({}, ['a/b ü']);
    langfuse.store.addChatPrompt('chat');
    expect(await call(langfuse, words, sent)).toMatchObject({ status, body });
    expect(langfuse.store.versions('p')).toHaveLength(status === 201 ? 4 : 3);
  });
});

test('the Langfuse test double accepts a placeholder that has the name of a variable written with spaces', async () => {
  const prompt = chatPrompt({ type: 'placeholder', name: 'history' }, { role: 'system', content: '{{ history }}' });
  expect(await call(await startLangfuse(), 'POST ', prompt)).toMatchObject({ status: 201 });
});

test.for(['', '/a', 'a/', 'a//b', 'a|b', 'new', ' ', 'a <b>', 'a\nb'])(
  'the Langfuse test double rejects the prompt name %j',
  async (name) => {
    expect(await call(await startLangfuse(), 'POST ', textPrompt('A', { name }))).toMatchObject({ status: 400 });
  },
);

describe('concurrent writes to the Langfuse double', () => {
  async function callConcurrently(
    calls: readonly (readonly [words: string, sent: object])[],
    isDeadlock = () => false,
  ) {
    const langfuse = await startWithVersions({ pause: waitForReaders(calls.length), isDeadlock });
    const answers = await Promise.all(calls.map(([words, sent]) => call(langfuse, words, sent)));
    expect(langfuse.store.overlaps()).toBe(calls.length - 1);
    return { langfuse, statuses: answers.map(({ status }) => status).toSorted() };
  }
  const patch = (version: number, label: string) => [`PATCH /p/versions/${version}`, newLabel(label)] as const;
  const create = (n: number) => ['POST ', textPrompt(`New ${n}.`, { labels: ['a'] })] as const;

  test('in the Langfuse test double, two concurrent PATCHes leave a label on two versions until another PATCH sets the label', async () => {
    const { langfuse } = await callConcurrently([patch(1, 'a'), patch(2, 'a')]);
    expect(withLabel(langfuse, 'a')).toEqual([1, 2]);
    expect(await call(langfuse, 'GET /p?label=a')).toMatchObject({ body: { version: 1 } });
    await call(langfuse, ...patch(2, 'a'));
    expect(withLabel(langfuse, 'a')).toEqual([2]);
  });

  test('in the Langfuse test double, a version still has one of its two labels after concurrent PATCHes move both labels away', async () => {
    const { langfuse } = await callConcurrently([patch(1, 'staging'), patch(2, 'production')]);
    const versionsWithLabels = ['staging', 'production'].flatMap((label) => withLabel(langfuse, label));
    expect(versionsWithLabels.toSorted()).toEqual([1, 2, 3]);
  });

  test('in the Langfuse test double, a PATCH and a concurrent create request leave the same label on two versions', async () => {
    expect(withLabel((await callConcurrently([patch(1, 'a'), create(4)])).langfuse, 'a')).toEqual([1, 4]);
  });

  test('the Langfuse test double returns 500 for two concurrent writes if a test simulates a database deadlock', async () => {
    const { langfuse, statuses } = await callConcurrently([patch(1, 'a'), create(4)], () => true);
    expect([statuses, withLabel(langfuse, 'a')]).toEqual([[500, 500], []]);
  });

  test('the Langfuse test double accepts only one of eight concurrent requests to create a version of the same prompt', async () => {
    const { langfuse, statuses } = await callConcurrently([1, 2, 3, 4, 5, 6, 7, 8].map(create));
    expect([statuses.filter((status) => status === 400).length, withLabel(langfuse, 'latest')]).toEqual([7, [4]]);
  });
});

describe('sequences of calls to the Langfuse double', () => {
  test('the Langfuse test double creates a new version for each of two create requests with the same text', async () => {
    const langfuse = await startWithVersions();
    for (const labels of [['staging'], []]) await call(langfuse, 'POST ', textPrompt('Same.', { labels }));
    expect(['staging', 'production', 'latest'].map((label) => withLabel(langfuse, label))).toEqual([[4], [3], [5]]);
  });

  test('the Langfuse test double returns the same response for a missing prompt as for a missing label, but does not list the prompt', async () => {
    const langfuse = await startWithVersions();
    const [one, other] = [await call(langfuse, 'GET /q?label=a'), await call(langfuse, 'GET /p?label=a')];
    expect(JSON.stringify(one)).toBe(JSON.stringify(other).replace("'p'", "'q'"));
    expect(await call(langfuse, 'GET ?name=q')).toMatchObject({ body: { data: [] } });
  });

  test('the Langfuse test double reuses the number of the newest version after that version is deleted', async () => {
    const langfuse = await startWithVersions();
    langfuse.store.deleteVersion('p', 3);
    expect(withLabel(langfuse, 'latest')).toEqual([2]);
    expect(await call(langfuse, 'POST ', textPrompt('Other.'))).toMatchObject({
      body: { version: 3, prompt: 'Other.' },
    });
  });

  test('the Langfuse test double counts only PATCH requests toward the rate limit', async () => {
    const langfuse = await startWithVersions();
    langfuse.limitPatches(1);
    expect(await call(langfuse, 'PATCH /p/versions/1', newLabel('a'))).toMatchObject({ status: 200 });
    const details = { limit: 30, remaining: 0, retryAfterSeconds: expect.any(Number) };
    const body = { code: 'rate_limited', details };
    const refused = { status: 429, retryAfter: expect.stringMatching(/^(60|5\d)$/), body };
    expect(await call(langfuse, 'PATCH /p/versions/2', newLabel('a'))).toMatchObject(refused);
    expect(await call(langfuse, 'POST ', textPrompt('A'))).toMatchObject({ status: 201 });
    expect(langfuse.takeWrites()).toEqual(['PATCH p v1 [a]', 'PATCH p v2 [a]', 'POST p []']);
  });

  test('the Langfuse test double returns 401 for a wrong secret key and 403 for a public key without a secret key', async () => {
    const { baseUrl, environment } = await startLangfuse({ path: '/below' });
    const ask = async (authorization: string) => {
      const answer = await fetch(`${baseUrl}/api/public/v2/prompts/p`, { headers: { authorization } });
      return { status: answer.status, body: await answer.json() };
    };
    expect([await ask(`Basic ${btoa('any:sk-lf-wrong')}`), await ask(`Bearer ${PUBLIC_KEY}`)]).toEqual([
      {
        status: 401,
        body: {
          message: "Invalid credentials. Confirm that you've configured the correct host.",
          error: 'UnauthorizedError',
        },
      },
      {
        status: 403,
        body: {
          message: 'Access denied - need to use basic auth with secret key to GET prompts',
          error: 'ForbiddenError',
        },
      },
    ]);
    expect(environment.LANGFUSE_HOST).toMatch(/:\d+\/below$/);
  });

  test('the Langfuse test double moves a label and then returns 409 if the composition of the version is nested too deeply', async () => {
    const langfuse = await startWithVersions();
    const tag = (name: string) => `@@@langfusePrompt:name=${name}|label=a@@@`;
    langfuse.store.addVersion('n0', { text: 'Bottom.', labels: ['a'] });
    for (const n of [1, 2, 3, 4, 5]) langfuse.store.addVersion(`n${n}`, { text: tag(`n${n - 1}`), labels: ['a'] });
    langfuse.store.addVersion('n6', { text: 'Not composed.', labels: ['a'] });
    langfuse.store.addComposedVersion('n6', tag('n5'));
    expect(await call(langfuse, 'PATCH /n6/versions/2', newLabel('a'))).toMatchObject({
      status: 409,
      body: { message: 'Maximum nesting depth exceeded (5)' },
    });
    expect(langfuse.store.serves('n6', 'a')).toMatchObject({ version: 2 });
  });

  test.each([
    ['oldest', 1],
    ['newest', 2],
  ] as const)(
    'the Langfuse test double returns the %s version if several versions have a label and the test chooses this order',
    async (ambiguousLabel, version) => {
      const langfuse = await startWithVersions({ ambiguousLabel });
      for (const labeled of [1, 2]) langfuse.store.addLabel('p', labeled, 'a');
      expect(await call(langfuse, 'GET /p?label=a')).toMatchObject({ body: { version } });
    },
  );

  test('the Langfuse test double rejects the deletion of a prompt that another prompt contains', async () => {
    const langfuse = await startWithVersions();
    langfuse.store.addVersion('whole', { text: textWithReference('p|version=1').prompt });
    expect(await call(langfuse, 'DELETE /p')).toMatchObject({ status: 400 });
    expect(await call(langfuse, 'DELETE /whole')).toMatchObject({ status: 204 });
    expect(await call(langfuse, 'DELETE /p')).toMatchObject({ status: 204 });
    expect(await call(langfuse, 'DELETE /p')).toMatchObject({ status: 404 });
  });

  test('in the Langfuse test double, moving a label changes updatedAt of both versions and lastUpdatedAt of the prompt', async () => {
    const langfuse = await startWithVersions();
    const before = langfuse.store.versions('p');
    await call(langfuse, 'PATCH /p/versions/1', newLabel('staging'));
    const after = langfuse.store.versions('p');
    const updated = after.filter((row, index) => row.updatedAt !== before[index]?.updatedAt);
    expect(updated.map(({ version }) => version)).toEqual([1, 3]);
    const times = updated.map((row) => row.updatedAt).toSorted();
    expect(await call(langfuse, 'GET ?name=p')).toMatchObject({ body: { data: [{ lastUpdatedAt: times[1] }] } });
    expect(after.map(({ createdAt }) => createdAt)).toEqual(before.map(({ createdAt }) => createdAt));
  });

  test('in the Langfuse test double, a PATCH that changes nothing still changes updatedAt of its version', async () => {
    const langfuse = await startWithVersions();
    const [before] = langfuse.store.versions('p').slice(2);
    await call(langfuse, 'PATCH /p/versions/3', newLabel('staging'));
    expect(langfuse.store.versions('p')[2]?.updatedAt).not.toBe(before?.updatedAt);
  });

  test('in the Langfuse test double, a create request with tags changes updatedAt of all versions', async () => {
    const langfuse = await startWithVersions();
    const before = langfuse.store.versions('p');
    await call(langfuse, 'POST ', textPrompt('Four.', { tags: ['t'] }));
    const after = langfuse.store.versions('p');
    expect(before.every(({ updatedAt }, index) => updatedAt !== after[index]?.updatedAt)).toBe(true);
  });

  test('in the Langfuse test double, the deletion of an old version does not change lastUpdatedAt of the prompt', async () => {
    const langfuse = await startWithVersions();
    const read = async () => (await langfuse.store.list({ name: 'p' })).data[0];
    const before = await read();
    langfuse.store.deleteVersion('p', 1);
    expect(await read()).toEqual({ ...before, versions: [2, 3] });
  });

  test('the Langfuse test double resolves references in prompt text unless the request sets resolve=false', async () => {
    const langfuse = await startWithVersions();
    const written = textWithReference('p|version=1');
    langfuse.store.addVersion('whole', { text: written.prompt });
    const read = (query: string) => call(langfuse, `GET /whole?version=1${query}`);
    expect(await read('')).toMatchObject({ body: { prompt: 'See One..' } });
    expect(await read('&resolve=false')).toMatchObject({ body: { prompt: written.prompt } });
    langfuse.store.removePrompt('p');
    expect(await read('')).toMatchObject({ status: 409 });
  });

  test('the Langfuse test double keeps the tags of a prompt if a create request omits them and clears them if it sends an empty list', async () => {
    const langfuse = await startWithVersions();
    for (const tags of [['t'], undefined, []]) {
      await call(langfuse, 'POST ', textPrompt('A', { tags }));
      const storedTags = langfuse.store.versions('p').map((version) => version.tags);
      expect(new Set(storedTags.map(String))).toEqual(new Set([String(tags ?? ['t'])]));
    }
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
    await expectPage('limit=100&page=3', []);
    expect(await call(langfuse, 'GET ?limit=101')).toMatchObject({ status: 400 });
    const data = [{ versions: [3], labels: ['latest', 'production', 'staging'] }];
    expect(await call(langfuse, 'GET ?name=p&label=staging')).toMatchObject({ body: { data } });
  });

  test('a test can make the Langfuse test double apply a write and then close the connection without a response', async () => {
    const langfuse = await startWithVersions();
    langfuse.fail({ method: 'POST', path: /prompts$/ }, 'lost-answer');
    await expect(call(langfuse, 'POST ', textPrompt('A'))).rejects.toThrow('fetch failed');
    expect([langfuse.store.versions('p').length, langfuse.takeWrites()]).toEqual([4, ['POST p []']]);
  });
});
