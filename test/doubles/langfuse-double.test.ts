import { describe, expect, test } from 'vitest';
import { call, newLabel, startWithVersions, textPrompt, textWithReference } from './langfuse-calls.ts';
import { PUBLIC_KEY, startLangfuse, type LangfuseDouble } from './langfuse-server.ts';

const BIG = '{"name":"p","prompt":"A","config":9007199254740993}';
const FAILED = { message: 'Internal Server Error' };

type Row = readonly [title: string, words: string, status: number, body: object | string, sent?: unknown];
test.for<Row>([
  ['returns an unlabeled version by its number', 'GET /p?version=1', 200, { prompt: 'One.' }],
  ['returns a version by its label', 'GET /p?label=staging', 200, { version: 3, config: { model: 'm' } }],
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
])('the Langfuse test double %s', async ([, words, status, body, sent]) => {
  const langfuse = await startWithVersions({}, ['a/b ü']);
  expect(await call(langfuse, words, sent)).toMatchObject({ status, body });
  expect(langfuse.store.versions('p')).toHaveLength(status === 201 ? 4 : 3);
});

test.for(['', '/a', 'a/', 'a//b', 'a|b', 'new', ' ', 'a <b>', 'a\nb'])(
  'the Langfuse test double rejects the prompt name %j',
  async (name) => {
    expect(await call(await startLangfuse(), 'POST ', textPrompt('A', { name }))).toMatchObject({ status: 400 });
  },
);

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

  test('the Langfuse test double returns 401 for a wrong secret key and 403 for a public key without a secret key', async () => {
    const { baseUrl } = await startLangfuse();
    const ask = async (authorization: string) => {
      const { status } = await fetch(`${baseUrl}/api/public/v2/prompts/p`, { headers: { authorization } });
      return status;
    };
    expect([await ask(`Basic ${btoa('any:sk-lf-wrong')}`), await ask(`Bearer ${PUBLIC_KEY}`)]).toEqual([401, 403]);
  });

  test('if the Langfuse test double cannot resolve the version that previously had a label, it moves the label and then returns 409', async () => {
    const langfuse = await startWithVersions();
    const version = langfuse.store.addComposedVersion('p', textWithReference('gone|label=a').prompt);
    langfuse.store.addLabel('p', version, 'a');
    expect(await call(langfuse, 'PATCH /p/versions/1', newLabel('a'))).toMatchObject({
      status: 409,
      body: { message: 'Prompt dependency not found: gone - label a' },
    });
    expect(langfuse.store.serves('p', 'a')).toMatchObject({ version: 1 });
  });

  test('in the Langfuse test double, moving a label changes updatedAt of both versions and lastUpdatedAt of the prompt', async () => {
    const langfuse = await startWithVersions();
    const before = langfuse.store.versions('p');
    await call(langfuse, 'PATCH /p/versions/1', newLabel('staging'));
    const updated = langfuse.store.versions('p').filter((row, index) => row.updatedAt !== before[index]?.updatedAt);
    expect(updated.map(({ version }) => version)).toEqual([1, 3]);
    const times = updated.map((row) => row.updatedAt).toSorted();
    expect(await call(langfuse, 'GET ?name=p')).toMatchObject({ body: { data: [{ lastUpdatedAt: times[1] }] } });
  });

  test('in the Langfuse test double, a PATCH that changes nothing still changes updatedAt of its version', async () => {
    const langfuse = await startWithVersions();
    const [before] = langfuse.store.versions('p').slice(2);
    await call(langfuse, 'PATCH /p/versions/3', newLabel('staging'));
    expect(langfuse.store.versions('p')[2]?.updatedAt).not.toBe(before?.updatedAt);
  });

  test('in the Langfuse test double, the deletion of an old version does not change lastUpdatedAt of the prompt', async () => {
    const langfuse = await startWithVersions();
    const read = async () => (await langfuse.store.list({ name: 'p' })).data[0];
    const before = await read();
    langfuse.store.deleteVersion('p', 1);
    expect(await read()).toEqual({ ...before, versions: [2, 3] });
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

  test('a test can make the Langfuse test double apply a write and then close the connection without a response', async () => {
    const langfuse = await startWithVersions();
    langfuse.fail({ method: 'POST', path: /prompts$/ }, 'lost-answer');
    await expect(call(langfuse, 'POST ', textPrompt('A'))).rejects.toThrow('fetch failed');
    expect([langfuse.store.versions('p').length, langfuse.takeWrites()]).toEqual([4, ['POST p []']]);
  });
});
