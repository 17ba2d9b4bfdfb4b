import { describe, expect, test } from 'vitest';
import { READ_ONLY_KEY, SECRET_KEY, startLangfuse, type LangfuseDouble } from './langfuse-server.ts';

/** Writes wait for each other until so many have read; later ones go straight on. */
function meeting(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let met = 0;
  return () => {
    if (++met === count) resolve();
    return promise;
  };
}

/** `words` are a method and a path below that of the prompts. */
async function call({ baseUrl }: LangfuseDouble, words: string, body?: unknown, key = SECRET_KEY) {
  const [method = '', path = ''] = words.split(' ');
  const headers = { authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}` };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const answer = await fetch(`${baseUrl}/api/public/v2/prompts${path}`, { method, headers, ...sent });
  const received = await answer.text();
  const parsed: unknown = /^[[{]/.test(received) ? JSON.parse(received) : received;
  return { status: answer.status, body: parsed, retryAfter: answer.headers.get('retry-after') };
}

/** A prompt `p` of three versions, the third in staging and production; further ones of these names, with one each. */
async function startFilled(options: Parameters<typeof startLangfuse>[0] = {}, names: readonly string[] = []) {
  const langfuse = await startLangfuse(options);
  for (const text of ['One.', 'Two.']) langfuse.store.addVersion('p', { text });
  langfuse.store.addVersion('p', { text: 'Three.', config: { model: 'm' }, labels: ['staging', 'production'] });
  for (const name of names) langfuse.store.addVersion(name, { text: `Of ${name}.`, labels: ['staging'] });
  return langfuse;
}

/** The versions with a label, in order of creation. */
function withLabel({ store }: LangfuseDouble, label: string): readonly number[] {
  return store.versions('p').flatMap(({ version, labels }) => (labels.includes(label) ? [version] : []));
}

const labelled = (label: string) => ({ newLabels: [label] });
const text = (prompt: string, rest: object = {}) => ({ name: 'p', prompt, ...rest });
const tagged = (part: string) => text(`See @@@langfusePrompt:name=${part}@@@.`);
const BIG = '{"name":"p","prompt":"A","config":9007199254740993}';
const ALL = ['a', 'latest', 'production', 'staging'];
const FAILED = { message: 'Internal Server Error' };

describe('each call answers as a running Langfuse does', () => {
  type Row = readonly [sentence: string, words: string, sent: unknown, status: number, body: object | string];
  test.for<Row>([
    ['1: a version without a label is read by its number', 'GET /p?version=1', undefined, 200, { prompt: 'One.' }],
    ['1: a label is read', 'GET /p?label=staging', undefined, 200, { version: 3, config: { model: 'm' } }],
    ['1: it is production where nothing is said', 'GET /p', undefined, 200, { version: 3, commitMessage: null }],
    ['1: version and label exclude each other', 'GET /p?version=1&label=a', undefined, 400, {}],
    ['1: a commit message is kept', 'POST ', text('A', { commitMessage: 'Why' }), 201, { commitMessage: 'Why' }],
    ['1: one of 501 characters is refused', 'POST ', text('A', { commitMessage: 'x'.repeat(501) }), 400, {}],
    ['3: a PATCH keeps labels', 'PATCH /p/versions/3', labelled('a'), 200, { labels: expect.arrayContaining(ALL) }],
    ['3: an empty list takes none away', 'PATCH /p/versions/3', { newLabels: [] }, 200, { labels: { length: 3 } }],
    ['3: a version that is not there', 'PATCH /p/versions/9', labelled('a'), 404, {}],
    ['6: a create may name latest', 'POST ', text('A', { labels: ['latest'] }), 201, { labels: ['latest'] }],
    ['6: a PATCH may not', 'PATCH /p/versions/1', labelled('latest'), 400, {}],
    ['6: a create checks labels', 'POST ', text('A', { labels: ['Prod'] }), 400, { message: 'Invalid request data' }],
    ['6: and how long they are', 'POST ', text('A', { labels: ['x'.repeat(37)] }), 400, {}],
    ['6: a PATCH does not', 'PATCH /p/versions/1', labelled('Übung 1'), 200, { labels: ['Übung 1'] }],
    ['10: more than 1 MB', 'POST ', text('x'.repeat(2 ** 20)), 413, 'Body exceeded 1mb limit'],
    ['10: NUL', 'POST ', text('a\0b'), 500, FAILED],
    ['10: half of a character', 'POST ', text('a\uD800b'), 500, FAILED],
    ['10: a part is missing', 'POST ', tagged('no|label=a'), 400, { message: expect.stringContaining('no - label a') }],
    ['11: ends of lines and decomposed letters', 'POST ', text('e\u0301\r\n\n'), 201, { prompt: 'e\u0301\r\n\n' }],
    ['11: config is any JSON value', 'POST ', text('A', { config: [1, null] }), 201, { config: [1, null] }],
    ['11: large integers do not survive', 'POST ', BIG, 201, { config: 2 ** 53 }],
    ['12: a folder is part of one segment', 'GET /a%2Fb%20%C3%BC?label=staging', undefined, 200, { name: 'a/b ü' }],
    ['12: and not a segment of its own', 'GET /a/b%20%C3%BC?label=staging', undefined, 404, '<!DOCTYPE html>Not found'],
    ['a chat prompt stays one', 'POST ', text('A', { name: 'chat' }), 400, {}],
    ['nothing is deleted over the wire', 'DELETE /p', undefined, 405, {}],
  ])('%s', async ([, words, sent, status, body]) => {
    const langfuse = await startFilled({}, ['a/b ü']);
    langfuse.store.addChatPrompt('chat');
    expect(await call(langfuse, words, sent)).toMatchObject({ status, body });
    expect(langfuse.store.versions('p')).toHaveLength(status === 201 ? 4 : 3);
  });
});

test.for(['', '/a', 'a/', 'a//b', 'a|b', 'new', ' ', 'a <b>', 'a\nb'])('12: no prompt is called «%s»', async (name) => {
  expect(await call(await startLangfuse(), 'POST ', text('A', { name }))).toMatchObject({ status: 400 });
});

describe('2 and 7: writes at once', () => {
  async function atOnce(calls: readonly (readonly [words: string, sent: object])[], isDeadlock = () => false) {
    const langfuse = await startFilled({ pause: meeting(calls.length), isDeadlock });
    const answers = await Promise.all(calls.map(([words, sent]) => call(langfuse, words, sent)));
    expect(langfuse.store.overlaps()).toBe(calls.length - 1);
    return { langfuse, statuses: answers.map(({ status }) => status).toSorted() };
  }
  const patch = (version: number, label: string) => [`PATCH /p/versions/${version}`, labelled(label)] as const;
  const create = (n: number) => ['POST ', text(`New ${n}.`, { labels: ['a'] })] as const;

  test('a label that is put on two versions is on both, and one more PATCH heals it', async () => {
    const { langfuse } = await atOnce([patch(1, 'a'), patch(2, 'a')]);
    expect(withLabel(langfuse, 'a')).toEqual([1, 2]);
    expect(await call(langfuse, 'GET /p?label=a')).toMatchObject({ body: { version: 1 } });
    await call(langfuse, ...patch(2, 'a'));
    expect(withLabel(langfuse, 'a')).toEqual([2]);
  });

  test('of two labels that leave a version one stays behind', async () => {
    const { langfuse } = await atOnce([patch(1, 'staging'), patch(2, 'production')]);
    const left = ['staging', 'production'].flatMap((label) => withLabel(langfuse, label));
    expect(left.toSorted()).toEqual([1, 2, 3]);
  });

  test('a label that is put on a version beside a create is on both', async () => {
    expect(withLabel((await atOnce([patch(1, 'a'), create(4)])).langfuse, 'a')).toEqual([1, 4]);
  });

  test('writes fail where they are told that they lock each other out', async () => {
    const { langfuse, statuses } = await atOnce([patch(1, 'a'), create(4)], () => true);
    expect([statuses, withLabel(langfuse, 'a')]).toEqual([[500, 500], []]);
  });

  test('of eight creates one is made', async () => {
    const { langfuse, statuses } = await atOnce([1, 2, 3, 4, 5, 6, 7, 8].map(create));
    expect([statuses.filter((status) => status === 400).length, withLabel(langfuse, 'latest')]).toEqual([7, [4]]);
  });
});

describe('what takes several calls', () => {
  test('1 and 7: creates one after the other make two versions, and move what they name', async () => {
    const langfuse = await startFilled();
    for (const labels of [['staging'], []]) await call(langfuse, 'POST ', text('Same.', { labels }));
    expect(['staging', 'production', 'latest'].map((label) => withLabel(langfuse, label))).toEqual([[4], [3], [5]]);
  });

  test('4: only the listing tells a prompt that is not there from a label that is not', async () => {
    const langfuse = await startFilled();
    const [one, other] = [await call(langfuse, 'GET /q?label=a'), await call(langfuse, 'GET /p?label=a')];
    expect(JSON.stringify(one)).toBe(JSON.stringify(other).replace("'p'", "'q'"));
    expect(await call(langfuse, 'GET ?name=q')).toMatchObject({ body: { data: [] } });
  });

  test('5: the number of a deleted version is used again, and latest moves back', async () => {
    const langfuse = await startFilled();
    langfuse.store.deleteVersion('p', 3);
    expect(withLabel(langfuse, 'latest')).toEqual([2]);
    expect(await call(langfuse, 'POST ', text('Other.'))).toMatchObject({ body: { version: 3, prompt: 'Other.' } });
  });

  test('8: PATCHes alone are counted', async () => {
    const langfuse = await startFilled();
    langfuse.limitPatches(1);
    expect(await call(langfuse, 'PATCH /p/versions/1', labelled('a'))).toMatchObject({ status: 200 });
    const refused = { status: 429, retryAfter: expect.stringMatching(/^(60|5\d)$/) };
    expect(await call(langfuse, 'PATCH /p/versions/2', labelled('a'))).toMatchObject(refused);
    expect(await call(langfuse, 'POST ', text('A'))).toMatchObject({ status: 201 });
    expect(langfuse.takeWrites()).toEqual(['PATCH p v1 [a]', 'PATCH p v2 [a]', 'POST p []']);
  });

  test('9: the secret key alone counts, and one that may only read cannot write', async () => {
    const langfuse = await startFilled({ path: '/below' });
    const ask = async (words: string, key: string) => (await call(langfuse, words, undefined, key)).status;
    expect([await ask('GET /p', 'sk-lf-wrong'), await ask('GET /p', READ_ONLY_KEY)]).toEqual([401, 200]);
    expect(await ask('POST ', READ_ONLY_KEY)).toBe(403);
    expect(langfuse.environment.LANGFUSE_HOST).toMatch(/:\d+\/below$/);
  });

  test('10: parts are put in unless the text is asked for as it was written', async () => {
    const langfuse = await startFilled();
    const written = tagged('p|version=1');
    langfuse.store.addVersion('whole', { text: written.prompt });
    const read = (query: string) => call(langfuse, `GET /whole?version=1${query}`);
    expect(await read('')).toMatchObject({ body: { prompt: 'See One..' } });
    expect(await read('&resolve=false')).toMatchObject({ body: { prompt: written.prompt } });
    langfuse.store.deletePrompt('p');
    expect(await read('')).toMatchObject({ status: 409 });
  });

  test('12: tags that are left out are kept, an empty list clears those of all versions', async () => {
    const langfuse = await startFilled();
    for (const tags of [['t'], undefined, []]) {
      await call(langfuse, 'POST ', text('A', { tags }));
      const kept = langfuse.store.versions('p').map((version) => version.tags);
      expect(new Set(kept.map(String))).toEqual(new Set([String(tags ?? ['t'])]));
    }
  });

  test('the listing has ten a page, a hundred at most, and what its filter leaves', async () => {
    const names = Array.from({ length: 120 }, (_, n) => `n/${String(n).padStart(3, '0')}`);
    const langfuse = await startFilled({}, names.toReversed());
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

  test('a request fails as it was asked for', async () => {
    const langfuse = await startFilled();
    langfuse.fail({ method: 'POST', path: /prompts$/ }, 'lost-answer');
    await expect(call(langfuse, 'POST ', text('A'))).rejects.toThrow('fetch failed');
    expect([langfuse.store.versions('p').length, langfuse.takeWrites()]).toEqual([4, ['POST p []']]);
  });
});
