import { describe, expect, test } from 'vitest';
import { type AnswerHelpers, gatherAnswers, type InitFlags } from '../../../src/commands/init/init-answers.ts';
import { makeExamplePrompts, renderConfig } from '../../../src/commands/init/init-files.ts';
import type { Interview } from '../../../src/domain/system.ts';
import { makeInterview, type Replies } from './answers.ts';

const URL = 'https://prompts.example.com';

/** The flags of `init`, of which only `embedded` always has a value. */
type Flags = Partial<InitFlags>;

const HELPERS: AnswerHelpers = {
  guessCi: async () => 'github',
  listAddresses: () => [],
  listEnvironments: async () => [],
  findAddressFault: async () => null,
  findKeyFault: async () => null,
  findPromptFault: async () => null,
};

const gather = (flags: Flags, interview: Interview | null = null, helpers: Partial<AnswerHelpers> = {}) =>
  gatherAnswers({ embedded: false, ...flags }, interview, { ...HELPERS, ...helpers });

/** Asks the questions. Returns them with the answers. */
async function ask(replies: Replies, flags: Flags = {}, helpers: Partial<AnswerHelpers> = {}) {
  const { asked, interview } = makeInterview({
    'Which service': 'integration',
    'What is the address': URL,
    ...replies,
  });
  const result = await gather(flags, interview, helpers);
  return { asked, answers: result.isSuccess ? result.value : null };
}

describe('the flags of init', () => {
  test.each<[string, Flags, string]>([
    ['init rejects --url together with --embedded', { url: URL, embedded: true }, 'cannot be combined'],
    ['init rejects --id together with --embedded', { embedded: true, id: 'prm_a' }, '`--id` requires `--url`'],
    ['init rejects --ci github together with --embedded', { embedded: true, ci: 'github' }, 'requires `--url`'],
    ['init rejects the workspace itself as the folder', { url: URL, dir: '.' }, 'The value of `--dir`'],
    ['init rejects an absolute path as the folder', { url: URL, dir: '/tmp' }, 'The value of `--dir`'],
    ['init rejects a glob pattern as the folder', { url: URL, dir: 'a/**' }, 'The value of `--dir`'],
    ['init rejects a folder inside node_modules', { url: URL, dir: 'a/node_modules' }, 'The value of `--dir`'],
    ['init rejects the reserved environment', { url: URL, environments: 'a,promptsync' }, 'it is reserved'],
    ['init rejects an invalid prompt id', { url: URL, id: '..' }, 'The value of `--id`'],
    ['init rejects control characters in a name', { url: URL, environments: 'a\u001b[2J' }, 'control characters'],
  ])('%s', async (_, flags, said) => {
    const result = await gather(flags);
    const problems = result.isSuccess ? [] : result.problems;
    expect(problems.map(({ message, hint }) => `${message} ${hint}`).join('\n')).toContain(said);
  });

  test('init writes its flag values to the configuration and sets promote_from of each environment to the previous one', async () => {
    const flags = { url: URL, apiKeyEnv: 'MY_KEY', dir: './texts/', environments: 'dev, qa,10', ci: 'none' };
    const result = await gather(flags);
    if (!result.isSuccess) throw new Error('the flags are invalid');
    expect(renderConfig(result.value)).toContain(`environments:
  dev: {}
  qa:
    promote_from: dev
    allow_latest: false
  "10":
    promote_from: qa
`);
    const [example] = makeExamplePrompts(result.value);
    expect(example).toMatchObject({ path: 'texts/example/greeting.md' });
    expect(example?.content).toContain('pins:\n  dev: latest\n---\n');
  });
});

describe('the questions of init', () => {
  const REST = ['folder', 'environments', 'prompt', 'CI', 'pre-commit'];
  const ALL = { url: URL, apiKeyEnv: 'K', dir: 'p', environments: 'a', ci: 'none', id: 'prm', preCommit: true };
  const EMBEDDED = { 'Which service': 'embedded' };

  test.each<[string, Flags, Replies, readonly string[]]>([
    ['init asks for every value that no flag provides', {}, {}, ['service', 'address', 'environment', ...REST]],
    ['init asks three questions for the embedded service', {}, EMBEDDED, ['service', 'folder', 'environments']],
    ['init asks for no kind of service with --embedded', { embedded: true }, {}, ['folder', 'environments']],
    ['init asks for no kind of service with --url', { url: 'http://127.0.0.1:1' }, {}, ['environment', ...REST]],
    ['init asks for nothing if flags provide every value', ALL, {}, []],
  ])('%s', async (_, flags, replies, subjects) => {
    const { asked, answers } = await ask(replies, flags);
    expect(asked.map((message) => /(?:Which|Should|What is the) ([\w-]+)/.exec(message)?.[1])).toEqual(subjects);
    expect(answers).not.toBeNull();
  });

  test('init shows the existing environments, and accepts an answer with a fault if the user repeats it', async () => {
    const { asked, answers } = await ask(
      { 'Which environment variable': 'UNSET_KEY', 'Which folder': ' texts/ ' },
      {},
      {
        findKeyFault: async ({ keyVariable }) => `${keyVariable} is not set.`,
        listEnvironments: async () => ['"live"', '"test"'],
      },
    );
    expect(asked.filter((message) => message.includes('variable'))).toEqual([
      expect.stringMatching(/^Which environment variable/),
      expect.stringMatching(/^UNSET_KEY is not set\. Press Enter .*\nWhich environment variable/),
    ]);
    expect(asked.find((message) => message.includes('environments do'))).toContain(
      'Existing environments: "live", "test".',
    );
    expect(answers).toMatchObject({ keyVariable: 'UNSET_KEY', folder: 'texts', id: null });
  });
});
