import { describe, expect, test } from 'vitest';
import { ServiceError, type PromptService } from '../../src/service/prompt-service.ts';
import { makeProblem } from '../../src/problem.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import type { Hooks } from '../doubles/recorded.ts';
import { content, entry, file } from '../planning/support.ts';
import { addOwn, outcomeLine, sync } from './support.ts';

const staging = { staging: 'latest' };
const refs = { v1: content('Old') };

/** All kinds of change: two versions, a field, two environments. */
const whole = file({ name: 'New', pins: { staging: 'latest', production: 'git:v1' } });

function failing(call: string): Hooks {
  return {
    before: (line) => {
      if (line.startsWith(call)) throw new ServiceError(makeProblem('service/redirect', { status: 302 }), 'rejected');
    },
  };
}

const REDIRECT = 'The service answered with a redirect (302), which is not followed.';

describe('A call that fails is told with what was being done', () => {
  test.each([
    ['create p1 "Hello"', 'Creating the version: '],
    ['set p1 promptsync ver_2', 'Setting "promptsync" to v2: '],
    ['update p1', 'Updating the prompt: '],
    ['set p1 staging', 'Setting "staging": '],
    ['set p1 production', 'Setting "production": '],
  ])('%s', async (call, step) => {
    const { outcomes } = await sync(inMemoryBackend(), [whole], { refs, hooks: failing(call) });
    expect(outcomes[0]?.problems.map(({ message }) => message)).toStrictEqual([`${step}${REDIRECT}`]);
  });

  test('and the environments that were not set name the version that was made for them', async () => {
    const { outcomes } = await sync(inMemoryBackend(), [whole], { refs, hooks: failing('create p1 "Hello"') });
    expect(outcomes[0]?.changes.map(({ change, status, version }) => [change.kind, status, version])).toStrictEqual([
      ['create-version', 'made', { id: 'ver_1', number: 1 }],
      ['create-version', 'not_made', undefined],
      ['update-prompt', 'not_made', undefined],
      ['set-active', 'not_made', undefined],
      ['set-active', 'not_made', { id: 'ver_1', number: 1 }],
    ]);
    expect(outcomes[0]?.changes.map((change) => 'version' in change)).toStrictEqual([true, false, false, false, true]);
  });

  test('and an environment that was to go back to a version names none', async () => {
    const service = inMemoryBackend();
    await sync(service, [file({ text: 'One', pins: staging })]);
    await sync(service, [file({ text: 'Two', pins: staging })]);
    const back = file({ text: 'One', name: 'New', pins: staging });
    const { outcomes } = await sync(service, [back], { hooks: failing('update p1') });
    expect(outcomes[0]?.changes.map((change) => 'version' in change)).toStrictEqual([false, false]);
  });
});

describe('What is read back after an environment was set', () => {
  function showing(service: Backend, shown: (id: string) => object | null): PromptService {
    return {
      ...service,
      readPrompt: async (promptId, environment) => {
        const prompt = await service.readPrompt(promptId, environment);
        const { activeVersion } = prompt;
        if (environment !== 'staging' || activeVersion === null) return prompt;
        const other = shown(activeVersion.id);
        return { ...prompt, activeVersion: other === null ? null : { ...activeVersion, ...other } };
      },
    };
  }

  test.each([
    ['nothing', () => null, 'nothing instead of version "ver_1"'],
    ['another version', () => ({ id: 'ver_9' }), 'version "ver_9" instead of version "ver_1"'],
    ['another text', () => ({ text: 'Theirs' }), 'another text (v1) instead of the planned text'],
  ])('is %s: the prompt has failed, and both are named', async (_, shown, said) => {
    const { outcomes } = await sync(showing(inMemoryBackend(), shown), [file({ pins: staging })]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: made unknown apply/not-active']);
    expect(outcomes[0]?.problems.map(({ message }) => message)).toStrictEqual([
      `After it was set, "staging" serves ${said}.`,
    ]);
  });
});

describe('A version that the service does not find when it is to be set', () => {
  test('is a failure where a ledger names it', async () => {
    const service = inMemoryBackend();
    service.activate('p1', 'staging', addOwn(service, 'Two', [entry(7, 'One', { id: 'gone' })]));
    const wanted = file({ text: 'Two', pins: { staging: 'latest', production: 7 } });
    const { outcomes } = await sync(service, [wanted]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made service/version-not-found']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/^Setting "production": The service has no prompt "p1" with/);
  });

  test('is a failure where it was made in this very run', async () => {
    const forgetful: PromptService = {
      ...inMemoryBackend(),
      setActive: (promptId, _environment, versionId) =>
        Promise.reject(new ServiceError(makeProblem('service/version-not-found', { promptId, versionId }), 'rejected')),
    };
    const { outcomes } = await sync(forgetful, [file({ pins: staging })]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: made not_made service/version-not-found']);
  });
});

describe('A look that shows another version than was asked for', () => {
  const pins = { staging: 'latest', production: 'version:ver_2' };

  test.each([
    ['another one', 'ver_1'],
    ['none', ''],
  ])('because somebody moved the look environment to %s: the prompt has failed, and nothing is set', async (_, to) => {
    const service = inMemoryBackend();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p1', { text: 'Theirs' });
    const hooks: Hooks = { after: () => service.activate('p1', 'promptsync-look', to) };
    const { lines, outcomes } = await sync(service, [file({ pins })], { hooks });
    expect(lines.slice(-2)).toStrictEqual(['set p1 promptsync-look ver_2', 'read p1 promptsync-look']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made apply/changed-meanwhile']);
    expect(outcomes[0]?.problems[0]?.message).toBe(
      'The version looked at through "promptsync-look" is another one than was asked for.',
    );
  });
});

test('A run that is interrupted right before the first write of a prompt has not attempted it', async () => {
  const controller = new AbortController();
  const parts = { stop: controller.signal, onObserve: () => controller.abort() };
  const { lines, outcomes } = await sync(inMemoryBackend(), [file({ pins: staging })], parts);
  expect(lines).toStrictEqual([]);
  expect(outcomes.map(outcomeLine)).toStrictEqual(['not_attempted: not_made not_made apply/interrupted']);
});
