import { describe, expect, test } from 'vitest';
import { call, newLabel, startWithVersions, textPrompt, textWithReference } from './langfuse-calls.ts';
import { PUBLIC_KEY, startLangfuse, type LangfuseDouble } from './langfuse-server.ts';

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

  test('if the Langfuse test double cannot resolve the version that previously had a label, it moves the label and then returns 409', async () => {
    const langfuse = await startWithVersions();
    const version = langfuse.store.addComposedVersion('p', textWithReference('gone|label=a').prompt);
    langfuse.store.addLabel('p', version, 'a');
    expect(await call(langfuse, 'PATCH /p/versions/1', newLabel('a'))).toMatchObject({
      status: 409,
      body: { message: 'Prompt dependency not found: gone - label a' },
    });
    expect(langfuse.store.serves('p', 'a')).toMatchObject({ version: 1 });
    expect(await call(langfuse, 'PATCH /p/versions/1', newLabel('a'))).toMatchObject({ status: 200 });
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

  test('the Langfuse test double rejects a text that contains its own prompt', async () => {
    const langfuse = await startWithVersions();
    expect(await call(langfuse, 'POST ', textWithReference('p|version=1'))).toMatchObject({
      status: 400,
      body: { message: "Circular dependency detected involving prompt 'p' version 1" },
    });
  });

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
