import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.ts';
import { parseLangfuseVersion, parseListing } from '../../../src/providers/langfuse/parse-responses.ts';
import { digestVersion } from '../../../src/providers/langfuse/version.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const labels = (count: number) => numbers(count).map((number) => `label-${number}`);

/** Parses a version of the prompt `a` with some fields replaced. */
function parse(parts: object, requestedNumber: number | null = null) {
  const version = { name: 'a', version: 1, type: 'text', prompt: 'Hi.', config: {}, labels: ['staging'], ...parts };
  return parseLangfuseVersion(version, 'a', requestedNumber);
}

const chat = (...prompt: readonly unknown[]) => ({ type: 'chat', prompt });

test.each<[what: string, parts: object, message: string]>([
  ['parseLangfuseVersion rejects a string instead of messages', { type: 'chat' }, '"prompt" is not valid'],
  ['parseLangfuseVersion rejects messages in a text prompt', { prompt: [] }, '"prompt" is not valid'],
  ['parseLangfuseVersion rejects an unknown prompt type', { type: 'image' }, '"type" is not valid'],
  ['parseLangfuseVersion rejects a message whose content is a list', chat({ role: 'user', content: [] }), '"prompt.0"'],
  ['parseLangfuseVersion rejects a placeholder without a name', chat({ type: 'placeholder' }), '"prompt.0"'],
  ['parseLangfuseVersion rejects a version number below 1', { version: -1 }, '"version" is not valid'],
  ['parseLangfuseVersion rejects the name of a different prompt', { name: 'b' }, '"name"'],
  ['parseLangfuseVersion rejects labels that are not strings', { labels: [1] }, '"labels.0"'],
])('%s', (_, parts, message) => {
  expect(() => parse(parts)).toThrow(message);
});

test('parseLangfuseVersion rejects a version with a different number than the requested one', () => {
  expect(() => parse({ version: 2 }, 1)).toThrow('"version" is not the requested number');
  expect(parse({ version: 2 }, 2).number).toBe(2);
});

test('parseLangfuseVersion rejects a version with more than 200 labels, whose request may have had an effect', () => {
  expect(parse({ labels: labels(200) }).labels).toHaveLength(200);
  expect(() => parse({ labels: labels(201) })).toThrow(
    expect.objectContaining({ problem: expect.objectContaining({ code: 'langfuse/too-many' }), effect: 'unknown' }),
  );
});

test('parseLangfuseVersion ignores unknown properties of messages', () => {
  const parsed = parse(chat({ type: 'placeholder', name: 'x', role: 'placeholder', content: 'Hi.', tool_calls: [] }));
  expect(parsed.content.text).toBe('{{role "placeholder"}}\nHi.');
});

test('parseLangfuseVersion returns the message, the times, the creator and the project, if Langfuse sends them', () => {
  const times = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z' };
  expect(parse({ ...times, commitMessage: 'Why', createdBy: 'API', projectId: 'p' })).toMatchObject({
    ...{ message: 'Why', createdBy: 'API', projectId: 'p' },
    times: { createdAt: Date.parse(times.createdAt), updatedAt: Date.parse(times.updatedAt) },
  });
  expect(parse({})).not.toHaveProperty('times');
});

describe('parseListing', () => {
  const row = (parts: object = {}) => ({ name: 'a', versions: [1], labels: ['staging'], ...parts });

  test.each<[what: string, rows: readonly object[], message: string]>([
    ['parseListing rejects a page with more rows than it requested', numbers(101).map(() => row()), 'at most 100 rows'],
    ['parseListing rejects version numbers that are strings', [row({ versions: ['1'] })], '"versions.0"'],
    ['parseListing rejects a version number below 1', [row({ versions: [0] })], '"versions.0"'],
    ['parseListing rejects labels that are not strings', [row({ labels: [1] })], '"labels.0"'],
  ])('%s', (_, data, message) => {
    expect(() => parseListing({ data }, null)).toThrow(message);
  });

  test.each<[what: string, parts: object, found: string]>([
    ['parseListing marks a prompt with more than 10,000 versions', { versions: numbers(10_001) }, '10,001 versions'],
    ['parseListing marks a prompt with more than 200 labels', { labels: labels(201) }, '201 labels'],
  ])('%s', (_, parts, found) => {
    const { rows } = parseListing({ data: [row({ ...parts, name: 'big' }), row()] }, null);
    expect(rows).toMatchObject([{ name: 'big', problem: { code: 'langfuse/too-many' } }, { problem: null }]);
    expect(rows[0]?.problem?.message).toContain(`"big" has ${found} in Langfuse`);
  });

  test('parseListing accepts a prompt with 10,000 versions and 200 labels', () => {
    const { rows } = parseListing({ data: [row({ versions: numbers(10_000), labels: labels(200) })] }, 'a');
    expect(rows).toMatchObject([{ problem: null }]);
    expect(rows[0]?.versions).toHaveLength(10_000);
  });
});

describe('digestVersion', () => {
  const digest = (config: JsonValue) => {
    const others = { labels: [], message: null, times: null, createdBy: null, projectId: null };
    return digestVersion({ number: 1, prompt: 'A', config, ...others });
  };

  test('Langfuse versions with different configs have different metadata digests and ids', () => {
    const configs: readonly JsonValue[] = [{}, [], ['evil'], '', 0, false, '{}', { promptsync: { model: 'evil' } }];
    const versions = configs.map(digest);
    expect(new Set(versions.map(({ metadataDigest }) => metadataDigest)).size).toBe(configs.length);
    expect(new Set(versions.map(({ id }) => id)).size).toBe(configs.length);
    expect(versions.map(({ content }) => content?.metadata)).toEqual(configs);
  });

  test('promptsync treats a null Langfuse config as an empty mapping', () => {
    expect(parse({ config: null }).metadataDigest).toBe(digest({}).metadataDigest);
  });

  test('The size of a version counts each character of its text once and each character of its config 20 times', () => {
    expect(digest([1, 2]).size).toBe('A'.length + 20 * '[1,2]'.length);
  });
});
