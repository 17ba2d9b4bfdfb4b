import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { parseConfig } from '../../src/config/parse.ts';

type Variables = Readonly<Record<string, string>>;

function parse(text: string, environment: Variables = {}) {
  const file = '/repo/promptsync.yaml';
  return parseConfig(text, { file, shownPath: 'promptsync.yaml', root: '/repo', environment });
}

/** The problems as `code line:column message hint`. */
function tell(text: string, environment: Variables = {}): readonly string[] {
  return parse(text, environment).problems.map(
    ({ code, line, column, message, hint }) => `${code} ${line ?? 0}:${column ?? 0} ${message} ${hint}`,
  );
}

const EU = 'eu: {base_url: "https://eu.example", api_key_env: EU_KEY}';
const US = 'us: {base_url: "https://us.example", api_key_env: US_KEY}';
const BOTH = `services: {${EU}, ${US}}`;
const remote = (baseUrl: string, apiKeyVariable: string) => ({ kind: 'remote', baseUrl, apiKeyVariable });

describe('several services', () => {
  test.each<[string, string, Readonly<Record<string, object>>]>([
    [
      'each with its key',
      BOTH,
      { eu: remote('https://eu.example', 'EU_KEY'), us: remote('https://us.example', 'US_KEY') },
    ],
    [
      'one alone, with the usual variable',
      'services: {eu: {base_url: "https://eu.example"}}',
      { eu: remote('https://eu.example', 'PROMPTSYNC_API_KEY') },
    ],
    [
      'two projects behind one host, with one key',
      'services: {a: {base_url: "https://x.example/a"}, b: {base_url: "https://X.example:443/b"}}',
      {
        a: remote('https://x.example/a', 'PROMPTSYNC_API_KEY'),
        b: remote('https://X.example:443/b', 'PROMPTSYNC_API_KEY'),
      },
    ],
    [
      'two keys for one address',
      'services: {a: {base_url: "https://x.example", api_key_env: A}, b: {base_url: "https://x.example", api_key_env: B}}',
      { a: remote('https://x.example', 'A'), b: remote('https://x.example', 'B') },
    ],
    [
      'embedded ones beside a remote one',
      'services: {a: {embedded: a.db}, b: {embedded: b.db}, c: {base_url: "https://x.example"}}',
      {
        a: { kind: 'embedded', databasePath: '/repo/a.db' },
        b: { kind: 'embedded', databasePath: '/repo/b.db' },
        c: remote('https://x.example', 'PROMPTSYNC_API_KEY'),
      },
    ],
    [
      'names that mean something to JavaScript',
      'services: {constructor: {embedded: a.db}, "2": {embedded: b.db}}',
      {
        constructor: { kind: 'embedded', databasePath: '/repo/a.db' },
        '2': { kind: 'embedded', databasePath: '/repo/b.db' },
      },
    ],
  ])('%s', (_, text, expected) => {
    const { config, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(config?.services).toEqual(new Map(Object.entries(expected)));
  });

  test('an empty variable for the base URL counts as not set', () => {
    expect(tell(BOTH, { PROMPTSYNC_BASE_URL: '' })).toEqual([]);
  });
});

describe('which files belong to which', () => {
  test.each<[string, string, Config['assignment']]>([
    ['nothing says it', BOTH, { byPattern: [], otherwise: null }],
    ['the only service', `services: {${EU}}`, { byPattern: [], otherwise: 'eu' }],
    ['the named one', `${BOTH}\nservice: us`, { byPattern: [], otherwise: 'us' }],
    [
      'patterns in their order',
      `${BOTH}\nprompts: ["a/*.md", {pattern: "b/*.md", service: us}, {pattern: "c/*.md"}, {pattern: "b/x/*.md", service: eu}]`,
      {
        byPattern: [
          { pattern: 'b/*.md', service: 'us' },
          { pattern: 'b/x/*.md', service: 'eu' },
        ],
        otherwise: null,
      },
    ],
    ['one service without a name', 'service: {base_url: "https://a.example"}', null],
    ['no service', 'prompts: [{pattern: "a/*.md"}]', null],
  ])('%s', (_, text, expected) => {
    const { config, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(config?.assignment).toEqual(expected);
  });

  test('patterns are searched in either form', () => {
    const { config } = parse(`${BOTH}\nprompts:\n  - a/*.md\n  - pattern: b/*.md\n    service: us\n  - "!c/*.md"\n`);
    expect(config?.patterns).toEqual(['a/*.md', 'b/*.md', '!c/*.md']);
    expect(config?.patternPlaces.map(({ line, column }) => [line, column])).toEqual([
      [3, 5],
      [4, 14],
      [6, 5],
    ]);
  });
});

describe('what is wrong', () => {
  const shared = 'services: {a: {base_url: "https://a.example"}, b: {base_url: "https://b.example"}}';
  const spelt = shared.replace('b.example"', 'b.example", api_key_env: PROMPTSYNC_API_KEY');
  test.each<[string, string, string]>([
    ['services: {}', '1:11', '"services" is not valid: it is empty'],
    ['services: [a]', '1:11', '"services" is not valid: expected mapping, received list'],
    ['services: {eu: }', '1:16', '"services.eu" is not valid: expected mapping, received null'],
    ['services: {eu: {}}', '1:16', '"services.eu" is not valid: it needs base_url or embedded'],
    ['services: {eu: {api_key_env: X}}', '1:16', 'it needs base_url or embedded'],
    ['services: {eu: {embedded: a.db, base_url: "https://a.example"}}', '1:16', 'exclude each other'],
    ['services: {eu: {base_url: 1}}', '1:27', '"services.eu.base_url" is not valid: expected string'],
    ['services: {eu: {embedded: a.db, api_key_env: sk-1}}', '1:46', 'the name of a variable, never the key'],
    ['services: {"": {embedded: a.db}}', '1:12', '"services." is not valid: it is empty'],
    ['services: {"a\\tb": {embedded: a.db}}', '1:12', 'it holds control characters'],
    ['services: {eu: {base_url: "http://eu.example"}}', '1:27', 'config/invalid-url'],
    ['services: {eu: {base_url: "http://eu.example"}}', '1:27', 'in services.eu.base_url is not valid: plain http'],
    ['services: {eu: {embedded: a.db, base_ulr: x}}', '1:33', 'Did you mean `base_url`?'],
    [shared, '1:48', 'The key in PROMPTSYNC_API_KEY would be sent to two origins: that of "a" and that of "b"'],
    [spelt, '1:96', 'config/shared-key'],
    [shared.replace('https://b', 'http://localhost:1/b'), '1:48', 'config/shared-key'],
    [shared.replace('b.example', 'a.example:444'), '1:48', 'config/shared-key'],
    ['services: {a: {embedded: a.db}, b: {embedded: "x/../a.db"}}', '1:47', 'the service "a" is on that file already'],
    [`${BOTH}\nservice: uss`, '2:10', 'The service "uss" is not in promptsync.yaml. Did you mean `us`?'],
    [`${BOTH}\nservice: elsewhere`, '2:10', 'config/unknown-service'],
    [`${BOTH}\nservice: elsewhere`, '2:10', 'Services are: eu, us.'],
    [`${BOTH}\nservice: constructor`, '2:10', 'config/unknown-service'],
    [`${BOTH}\nservice: ""`, '2:10', '"service" is not valid: it is empty'],
    [`${BOTH}\nservice: {api_key_env: X}`, '2:10', 'with `services` it is the name of one of them'],
    ['service: eu', '1:10', 'expected mapping, received string; a name is for one of several `services`'],
    [`${BOTH}\nprompts: [{pattern: "a/*.md", service: eus}]`, '2:40', 'Did you mean `eu`?'],
    ['prompts: [{pattern: "a/*.md", service: eu}]', '1:40', 'Name it under `services:` there'],
    [`${BOTH}\nprompts: [{pattern: "!a/*.md", service: eu}]`, '2:41', 'assigns them to no service'],
    [`${BOTH}\nprompts: [{service: eu}]`, '2:11', '"prompts.0.pattern" is not valid'],
    [`${BOTH}\nprompts: [{pattern: "*(a|aa)"}]`, '2:21', 'it holds parentheses'],
    [`${BOTH}\nprompts: [{pattern: "a", servce: eu}]`, '2:26', 'Did you mean `service`?'],
    [`${BOTH}\nprompts: [[a]]`, '2:11', 'expected string, or a mapping with a pattern and a service'],
  ])('`%s` at %s', (text, place, expected) => {
    const [problem, ...others] = tell(text);
    expect(others).toEqual([]);
    expect(problem).toContain(` ${place} `);
    expect(problem).toContain(expected);
    expect(parse(text).config).toBeNull();
  });

  test('a base URL in the variable, as it could mean any of them', () => {
    const told = tell(BOTH, { PROMPTSYNC_BASE_URL: 'https://other.example' });
    expect(told).toEqual([expect.stringContaining('config/base-url-of-which 0:0 The variable PROMPTSYNC_BASE_URL')]);
  });

  test('all of it is told at once', () => {
    const text = `services:
  a: {base_url: "http://a.example"}
  b: {base_url: "https://b.example"}
  c: {}
service: d
prompts: [{pattern: x, service: e}, 1]
`;
    const told = tell(text, { PROMPTSYNC_BASE_URL: 'x' }).map((one) => one.split(' ').slice(0, 2).join(' '));
    expect(told.toSorted()).toEqual([
      'config/base-url-of-which 0:0',
      'config/invalid-field 4:6',
      'config/invalid-field 6:37',
      'config/invalid-url 2:17',
      'config/shared-key 3:3',
      'config/unknown-service 5:10',
      'config/unknown-service 6:33',
    ]);
  });
});
