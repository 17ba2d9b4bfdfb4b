import { describe, expect, test } from 'vitest';
import { call, newLabel, startWithVersions, textPrompt, textWithReference } from './langfuse-calls.ts';
import { startLangfuse } from './langfuse-server.ts';

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
  ])('%s', async ([, words, sent, status, body]) => {
    const langfuse = await startWithVersions({}, ['a/b ü']);
    expect(await call(langfuse, words, sent)).toMatchObject({ status, body });
    expect(langfuse.store.versions('p')).toHaveLength(status === 201 ? 4 : 3);
  });
});

test.for(['', '/a', 'a/', 'a//b', 'a|b', 'new', ' ', 'a <b>', 'a\nb'])(
  'the Langfuse test double rejects the prompt name %j',
  async (name) => {
    expect(await call(await startLangfuse(), 'POST ', textPrompt('A', { name }))).toMatchObject({ status: 400 });
  },
);
