import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, type TestContext, vi } from 'vitest';
import { CLI } from '../support/cli.ts';
import { commitAll, initRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { run as runInProcess, type Ran } from '../support/run.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';
import { giveToOther, makeOpenFolder, reasonForOneUser, runAsOther } from '../support/users.ts';

afterEach(() => vi.unstubAllEnvs());

/** A folder that two users share, like /tmp, with a folder of the user that runs promptsync. */
type Shared = {
  readonly shared: string;
  readonly mine: string;
  readonly service: TestService;
  /** Runs promptsync with the key in a variable that has nothing to do with promptsync. */
  readonly run: (folder: string, words: readonly string[], environment?: Variables) => Promise<Ran>;
};

type Variables = Readonly<Record<string, string>>;

async function makeShared({ skip }: TestContext): Promise<Shared> {
  const reason = reasonForOneUser();
  skip(reason !== null, reason ?? '');
  const service = await startTestService(['greeting']);
  const shared = makeOpenFolder();
  chmodSync(shared, 0o1777);
  const mine = join(shared, 'mine');
  writeFiles(mine, { 'prompts/greeting.md': promptText('greeting') });
  const run: Shared['run'] = async (folder, words, environment = {}) => {
    // git reads these variables from this process.
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const ran = await runInProcess(folder, words, { environment: { GITHUB_TOKEN: KEY } });
    vi.unstubAllEnvs();
    return ran;
  };
  return { shared, mine, service, run };
}

/** Sends the key of the variable GITHUB_TOKEN to the service. */
function hostileConfig({ service }: Shared): string {
  return `service: { base_url: "${service.baseUrl}", api_key_env: GITHUB_TOKEN }\nprompts: ["**/*.md"]\n`;
}

/** Writes the configuration of the other user into the shared folder. */
function plantConfig(place: Shared): void {
  writeFiles(place.shared, { 'promptsync.yaml': hostileConfig(place) });
  giveToOther(join(place.shared, 'promptsync.yaml'));
}

function expectNothingSent({ service }: Shared): void {
  expect(service.requests).toEqual([]);
}

const COMMANDS = [
  ['validate'],
  ['plan'],
  ['status'],
  ['sync', '--yes'],
  ['import', 'prm_greeting', '--environment', 'staging'],
];

describe('a configuration of another user', () => {
  test('A command outside a repository finds no configuration above the working directory', async (context) => {
    const place = await makeShared(context);
    plantConfig(place);
    for (const words of COMMANDS) {
      const { exitCode, stdout, stderr } = await place.run(place.mine, words);
      expect([words, exitCode, stdout + stderr]).toEqual([words, 1, expect.stringContaining('[config/not-found]')]);
    }
    expectNothingSent(place);
  });

  test('A command refuses a configuration owned by another user in the working directory', async (context) => {
    const place = await makeShared(context);
    plantConfig(place);
    for (const words of COMMANDS) {
      const { exitCode, stdout, stderr } = await place.run(place.shared, words);
      expect([words, exitCode]).toEqual([words, 1]);
      expect(stdout + stderr).toContain(
        'promptsync.yaml: error: promptsync did not use the configuration file because it belongs to another user, who could use it to send your API key',
      );
      expect(stdout + stderr).toContain('--config promptsync.yaml');
    }
    expectNothingSent(place);
  });

  test('plan refuses a symlink to a configuration if another user owns the symlink', async (context) => {
    const place = await makeShared(context);
    writeFiles(place.mine, { 'promptsync.yaml': hostileConfig(place) });
    runAsOther(place.shared, ['ln', '-s', 'mine/promptsync.yaml', 'promptsync.yaml']);
    const { exitCode, stdout } = await place.run(place.shared, ['plan']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('[config/foreign-file]') });
    expectNothingSent(place);
  });

  test('plan accepts a configuration owned by another user if --config names it', async (context) => {
    const place = await makeShared(context);
    plantConfig(place);
    expect(await place.run(place.shared, ['plan', '--config', 'promptsync.yaml'])).toMatchObject({ exitCode: 0 });
    expect(place.service.requests).not.toEqual([]);
  });

  test('validate accepts a configuration owned by root', async (context) => {
    const place = await makeShared(context);
    cpSync(dirname(CLI), join(place.shared, 'bundle'), { recursive: true });
    writeFiles(place.shared, { 'promptsync.yaml': 'prompts: ["mine/**/*.md"]\n' });
    const cli = join(place.shared, 'bundle/cli.cjs');
    expect(runAsOther(place.shared, [process.execPath, cli, 'validate'])).toContain('1 prompt valid.');
  });
});

describe('a repository of another user', () => {
  type ForeignRepository = { readonly name: string; readonly plant: (folder: string) => void };
  const repositories: readonly ForeignRepository[] = [
    { name: 'a repository', plant: (folder) => runAsOther(folder, ['git', 'init', '--quiet']) },
    { name: 'an empty .git folder', plant: (folder) => runAsOther(folder, ['mkdir', '.git']) },
    { name: 'an empty .git file', plant: (folder) => runAsOther(folder, ['touch', '.git']) },
  ];

  test.for(repositories)(
    'A command refuses the configuration in a parent folder if $name there belongs to another user',
    async ({ plant }, context) => {
      const place = await makeShared(context);
      plantConfig(place);
      plant(place.shared);
      const before = readdirSync(place.shared, { recursive: true }).toSorted();
      for (const words of COMMANDS) {
        const { exitCode, stdout, stderr } = await place.run(place.mine, words);
        expect([words, exitCode]).toEqual([words, 1]);
        expect(stdout + stderr).toContain(
          `promptsync did not use the configuration file in the repository \`${place.shared}\` because git does not trust this repository. The repository belongs to another user, who could use the file to send your API key to a service of their choice.`,
        );
        expect(stdout + stderr).toContain(`git config --global --add safe.directory ${place.shared}`);
      }
      expectNothingSent(place);
      const { exitCode, stdout } = await place.run(place.mine, ['init', '--embedded']);
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining('[config/foreign-repository]')]);
      expect(readdirSync(place.shared, { recursive: true }).toSorted()).toEqual(before);
    },
  );

  test('validate accepts a repository owned by another user if safe.directory, sudo or --config allows it', async (context) => {
    const place = makeRepositoryOfOther(await makeShared(context));
    const HOME = makeWorkspace({ '.gitconfig': `[safe]\n  directory = ${place.shared}\n` });
    const refused = { exitCode: 1, stdout: expect.stringContaining('[config/foreign-repository]') };
    expect(await place.run(place.mine, ['validate'])).toMatchObject(refused);
    expect(await place.run(place.mine, ['validate'], { SUDO_UID: '1' })).toMatchObject(refused);
    expect(await place.run(place.mine, ['validate'], { HOME })).toMatchObject({ exitCode: 0 });
    expect(await place.run(place.mine, ['validate'], { SUDO_UID: '65534' })).toMatchObject({ exitCode: 0 });
    const words = ['validate', '--config', '../promptsync.yaml'];
    expect(await place.run(place.mine, words)).toMatchObject({ exitCode: 0 });
  });

  /** Makes the shared folder a repository of the other user, with the files of both users. */
  function makeRepositoryOfOther(place: Shared): Shared {
    writeFiles(place.shared, { 'promptsync.yaml': 'prompts: ["**/*.md"]\n' });
    initRepository(place.shared);
    commitAll(place.shared, 'First prompts');
    giveToOther(place.shared);
    return place;
  }
});
