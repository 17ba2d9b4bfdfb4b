import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { type Effect, type PromptService, ServiceError } from '../../src/service/prompt-service.ts';
import { begun, outcomeLine, sync } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import type { Hooks } from '../doubles/recorded.ts';
import { content, file } from '../planning/support.ts';

const refs = { v1: content('Old') };
const staging = { staging: 'latest' };

/** Two prompts; all kinds of change for the first, whose calls come first. */
const whole = file({ name: 'New', pins: { staging: 'latest', production: 'git:v1' } });
const other = { ...file({ pins: staging }), id: 'p2', key: 'k/2', name: 'Second', path: 'prompts/b.md' };
const effects: readonly Effect[] = ['not-sent', 'rejected', 'unknown'];

function failure(effect: Effect): ServiceError {
  return new ServiceError(makeProblem('service/timeout', { seconds: 1 }), effect);
}

/** Fails the call of that number, before it has an effect. */
function failing(at: number, effect: Effect): Hooks {
  return {
    before: (_, index) => {
      if (index === at) throw failure(effect);
    },
  };
}

/** What becomes of the five changes when a call fails; `?` where it depends on what is known of its effect. */
const table: readonly (readonly [call: string, statuses: string])[] = [
  ['create p1 "Old"', '? not_made not_made not_made not_made'],
  ['set p1 promptsync ver_1', 'made not_made not_made not_made not_made'],
  ['read p1 promptsync', 'made not_made not_made not_made not_made'],
  ['create p1 "Hello"', 'made ? not_made not_made not_made'],
  ['set p1 promptsync ver_2', 'made made not_made not_made not_made'],
  ['read p1 promptsync', 'made made not_made not_made not_made'],
  ['update p1 {"name":"New"}', 'made made ? not_made not_made'],
  ['set p1 staging ver_2', 'made made made ? not_made'],
  ['read p1 staging', 'made made made unknown not_made'],
  ['set p1 production ver_1', 'made made made made ?'],
  ['read p1 production', 'made made made made unknown'],
];

describe.each(backends)('A call that fails (%s)', (_, start) => {
  const rows = table.flatMap(([call, statuses], at) => effects.map((effect) => [at, call, effect, statuses] as const));
  test.each(rows)('is number %i, %s, with effect %s', async (at, call, effect, statuses) => {
    const service = await start();
    const { lines, outcomes } = await sync(service, [whole, other], { refs, hooks: failing(at, effect) });
    const [first, second] = outcomes.map(outcomeLine);
    const code = call.startsWith('create') && effect === 'unknown' ? 'apply/outcome-unknown' : 'service/timeout';
    const expected = statuses.replace('?', effect === 'unknown' ? 'unknown' : 'not_made');
    expect(first).toBe(`failed: ${expected} ${code}`);
    expect(lines.filter((line) => line.includes(' p1 '))).toStrictEqual(table.slice(0, at + 1).map(([line]) => line));
    expect(second).toBe('applied: made made');
    expect(service.serves('p2', 'staging')?.[1]).toBe('Hello');
  });
});

describe('A look that fails', () => {
  const effectRows = [0, 1].flatMap((at) => effects.map((effect) => [at, effect] as const));

  test.each(effectRows)('at call %i with effect %s for an unknown id: nothing was made', async (at, effect) => {
    const service = inMemoryBackend();
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ pins: { staging: 'version:ver_1' } });
    const { lines, outcomes } = await sync(service, [wanted], { hooks: failing(at, effect) });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made service/timeout']);
    expect(lines).toHaveLength(at + 1);
  });

  test('for an unknown number fails with its own problem, not with that of the pin', async () => {
    const service = inMemoryBackend();
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ text: 'Theirs', pins: { staging: 1 } });
    const { outcomes } = await sync(service, [wanted], { hooks: failing(0, 'rejected') });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made service/timeout']);
  });
});

describe('A service that does not keep its word', () => {
  test('answers an update with another value: the prompt has failed, and the field is named', async () => {
    const service = inMemoryBackend();
    await sync(service, [file({ pins: staging })]);
    const stubborn: PromptService = { ...service, updatePrompt: (promptId) => service.readPrompt(promptId) };
    const { outcomes } = await sync(stubborn, [file({ name: 'New', pins: staging })]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: unknown apply/fields-differ']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/for: name\.$/);
  });

  test('stores CRLF for LF: that is the same text', async () => {
    const service = inMemoryBackend();
    const ending: PromptService = {
      ...service,
      createVersion: (promptId, version) =>
        service.createVersion(promptId, { ...version, text: version.text.replaceAll('\n', '\r\n') }),
    };
    const wanted = file({ text: 'a\nb', pins: staging });
    expect((await sync(ending, [wanted])).outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
    expect((await sync(ending, [wanted])).lines).toStrictEqual([]);
  });

  test('breaks in a way that nobody foresaw: the prompt has failed and the others are applied', async () => {
    const service = inMemoryBackend();
    const hooks: Hooks = {
      before: (_, index) => {
        if (index === 0) throw new TypeError('oh');
      },
    };
    const { outcomes } = await sync(service, [whole, other], { refs, hooks });
    expect(outcomes.map(outcomeLine)).toStrictEqual([
      'failed: not_made not_made not_made not_made not_made internal/unexpected',
      'applied: made made',
    ]);
  });
});

describe('A stop', () => {
  function stopAt(at: number, stopping: AbortController) {
    const before = (_: string, index: number): void => {
      if (index === at) stopping.abort();
    };
    return { hooks: { before }, stop: stopping.signal };
  }

  test('before the first call leaves all that was pending, and says so of nothing else', async () => {
    const service = inMemoryBackend();
    await sync(service, [other]);
    const blocked = { ...file({ pins: { a: 'git:gone' } }), id: 'p1', path: 'prompts/c.md' };
    for (const files of [
      [whole, other],
      [other, blocked],
    ]) {
      const { lines, outcomes } = await sync(service, files, { refs, stop: AbortSignal.abort() });
      expect(lines).toStrictEqual([]);
      expect(outcomes.map(({ status }) => status)).toStrictEqual(
        files.map((one) => (one === whole ? 'not_attempted' : one === other ? 'unchanged' : 'blocked')),
      );
    }
  });

  test.each([
    [0, 'create p1 "Old"', 'failed: made not_made not_made not_made not_made apply/interrupted'],
    [4, 'set p1 promptsync ver_2', 'failed: made made not_made not_made not_made apply/interrupted'],
    [6, 'update p1 {"name":"New"}', 'failed: made made made not_made not_made apply/interrupted'],
    [7, 'set p1 staging ver_2', 'failed: made made made unknown not_made apply/interrupted'],
    [10, 'read p1 production', 'applied: made made made made made'],
  ])('during call %i, %s, finishes it and begins no other', async (at, call, outcome) => {
    const stopping = new AbortController();
    const { lines, outcomes } = await sync(inMemoryBackend(), [whole, other], { refs, ...stopAt(at, stopping) });
    expect([lines.length, lines.at(-1)]).toStrictEqual([at + 1, call]);
    expect(outcomes.map(outcomeLine)).toStrictEqual([outcome, 'not_attempted: not_made not_made']);
  });

  test.each([0, 1])('during call %i of a look for a pin writes nothing', async (at) => {
    const stopping = new AbortController();
    const service = inMemoryBackend();
    for (const text of ['A', 'B']) service.addVersion('p1', { text });
    const wanted = file({ pins: { a: 'version:ver_1', b: 'version:ver_2' } });
    const { lines, outcomes } = await sync(service, [wanted], stopAt(at, stopping));
    expect(lines).toHaveLength(at + 1);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['not_attempted: not_made not_made not_made apply/interrupted']);
  });

  test('after the last call stops nothing', async () => {
    const stopping = new AbortController();
    const hooks: Hooks = {
      after: (line) => {
        if (line === 'read p1 staging') stopping.abort();
      },
    };
    const { outcomes } = await sync(inMemoryBackend(), [file({ pins: staging })], { hooks, stop: stopping.signal });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
  });
});

describe('Many prompts', () => {
  test.each([1, 2])('are written at most %i at the same time, and reported one by one', async (concurrency) => {
    const reported: string[] = [];
    let inFlight = 0;
    let most = 0;
    const hooks: Hooks = {
      before: async () => {
        most = Math.max(most, ++inFlight);
        await new Promise((resolve) => setImmediate(resolve));
      },
      after: () => void (inFlight -= 1),
    };
    const onApplied = ({ status }: { status: string }, done: number) => void reported.push(`${done} ${status}`);
    const { outcomes } = await sync(inMemoryBackend(), [whole, other], { refs, hooks, concurrency, onApplied });
    expect(most).toBe(concurrency);
    expect(reported).toStrictEqual(['1 applied', '2 applied']);
    expect(outcomes.map(({ plan }) => plan.file.id)).toStrictEqual(['p1', 'p2']);
  });
});

function redirected(call: string): Hooks {
  return {
    before: (line) => {
      if (line.startsWith(call)) throw new ServiceError(makeProblem('service/redirect', { status: 302 }), 'rejected');
    },
  };
}

const REDIRECT = 'The service answered with a redirect (302), which is not followed.';

describe('A call that fails is reported with what was being done', () => {
  test.each([
    ['create p1 "Hello"', 'Creating the version: '],
    ['set p1 promptsync ver_2', 'Setting "promptsync" to v2: '],
    ['update p1', 'Updating the prompt: '],
    ['set p1 staging', 'Setting "staging": '],
    ['set p1 production', 'Setting "production": '],
  ])('%s', async (call, step) => {
    const { outcomes } = await sync(inMemoryBackend(), [whole], { refs, hooks: redirected(call) });
    expect(outcomes[0]?.problems.map(({ message }) => message)).toStrictEqual([`${step}${REDIRECT}`]);
  });

  test('and the environments that were not set name the version that was made for them', async () => {
    const { outcomes } = await sync(inMemoryBackend(), [whole], { refs, hooks: redirected('create p1 "Hello"') });
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
    const service = await begun();
    await sync(service, [file({ text: 'Two', pins: staging })]);
    const back = file({ text: 'One', name: 'New', pins: staging });
    const { outcomes } = await sync(service, [back], { hooks: redirected('update p1') });
    expect(outcomes[0]?.changes.map((change) => 'version' in change)).toStrictEqual([false, false]);
  });
});

describe('What is read back after an environment was set', () => {
  function showingInStaging(service: Backend, shown: (id: string) => object | null): PromptService {
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
  ])('is %s for ten seconds: the prompt has failed, and both are named', async (_, shown, said) => {
    let waited = 0;
    const onWait = (milliseconds: number) => void (waited += milliseconds);
    const { outcomes } = await sync(showingInStaging(inMemoryBackend(), shown), [file({ pins: staging })], { onWait });
    expect(waited).toBe(10_000);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: made unknown apply/not-active']);
    expect(outcomes[0]?.problems.map(({ message }) => message)).toStrictEqual([
      `After it was set, "staging" serves ${said}.`,
    ]);
  });

  test('may be old for a moment, and is read again', async () => {
    let old = 3;
    const service = showingInStaging(inMemoryBackend(), () => (old-- > 0 ? null : {}));
    const { outcomes } = await sync(service, [file({ pins: staging })]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
  });

  test('is not waited for once the run is interrupted: what was set is not known', async () => {
    const stopping = new AbortController();
    const parts = { stop: stopping.signal, onWait: () => stopping.abort() };
    const { lines, outcomes } = await sync(
      showingInStaging(inMemoryBackend(), () => null),
      [file({ pins: staging })],
      parts,
    );
    expect(lines.slice(-2)).toStrictEqual(['set p1 staging ver_1', 'read p1 staging']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: made unknown apply/interrupted']);
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
    expect(new Set(lines.slice(-7))).toStrictEqual(new Set(['read p1 promptsync-look']));
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
