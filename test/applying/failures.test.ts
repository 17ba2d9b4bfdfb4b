import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import type { PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { type Effect, ServiceError } from '../../src/http/service-error.ts';
import { formatOutcome, sync } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import type { Hooks } from '../doubles/record-calls.ts';
import { content, file } from '../planning/support.ts';

const refs = { v1: content('Old') };
const staging = { staging: 'latest' };

/** The first of two prompts. Its plan has every kind of change, and its calls come first. */
const whole = file({ name: 'New', pins: { staging: 'latest', production: 'git:v1' } });
const other = { ...file({ pins: staging }), id: 'p2', key: 'k/2', name: 'Second', path: 'prompts/b.md' };
const effects: readonly Effect[] = ['not-sent', 'rejected', 'unknown'];

function failure(effect: Effect): ServiceError {
  return new ServiceError(makeProblem('service/timeout', { seconds: 1 }), effect);
}

/** Fails the call with this index before it has an effect. */
function failCall(at: number, effect: Effect, error: Error = failure(effect)): Hooks {
  const before = (_: string, index: number): void => {
    if (index === at) throw error;
  };
  return { before };
}

/** The status of the five changes after a call has failed. `?` depends on the effect that the failed call may have had. */
const failedCalls = {
  'create p1 "Old"': '? not_made not_made not_made not_made',
  'set p1 promptsync ver_1': 'made not_made not_made not_made not_made',
  'read p1 promptsync': 'made not_made not_made not_made not_made',
  'create p1 "Hello"': 'made ? not_made not_made not_made',
  'set p1 promptsync ver_2': 'made made not_made not_made not_made',
  'read p1 promptsync, again': 'made made not_made not_made not_made',
  'update p1 {"name":"New"}': 'made made ? not_made not_made',
  'set p1 staging ver_2': 'made made made ? not_made',
  'read p1 staging': 'made made made unknown not_made',
  'set p1 production ver_1': 'made made made made ?',
  'read p1 production': 'made made made made unknown',
};
const callsOfFirst = Object.keys(failedCalls).map((call) => call.replace(', again', ''));

describe.each(backends)('applyPlan after a failed call (backend: %s)', (_, start) => {
  const rows = Object.entries(failedCalls).flatMap(([call, statuses], at) =>
    effects.map((effect) => [call, effect, at, statuses] as const),
  );
  test.each(rows)(
    'If the call %s fails (effect on the service: %s), promptsync stops applying its prompt and applies the next prompt',
    async (call, effect, at, statuses) => {
      const service = await start();
      const { lines, outcomes } = await sync(service, [whole, other], { refs, hooks: failCall(at, effect) });
      const code = call.startsWith('create') && effect === 'unknown' ? 'apply/outcome-unknown' : 'service/timeout';
      const expected = statuses.replace('?', effect === 'unknown' ? 'unknown' : 'not_made');
      expect(outcomes.map(formatOutcome)).toStrictEqual([`failed: ${expected} ${code}`, 'applied: made made']);
      expect(lines.filter((line) => line.includes(' p1 '))).toStrictEqual(callsOfFirst.slice(0, at + 1));
      expect(service.serves('p2', 'staging')?.[1]).toBe('Hello');
    },
  );
});

describe('a failed probe', () => {
  test.each(effects)('A prompt fails without any change if a call of its probe fails (effect: %s)', async (effect) => {
    for (const at of [0, 1]) {
      const service = inMemoryBackend();
      service.addVersion('p1', { text: 'Theirs' });
      const wanted = file({ pins: { staging: 'version:ver_1' } });
      const { lines, outcomes } = await sync(service, [wanted], { hooks: failCall(at, effect) });
      expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: not_made not_made service/timeout']);
      expect(lines).toHaveLength(at + 1);
    }
  });

  test('If the probe for a pinned version number fails, promptsync reports this failure instead of an unknown number', async () => {
    const service = inMemoryBackend();
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ text: 'Theirs', pins: { staging: 1 } });
    const { outcomes } = await sync(service, [wanted], { hooks: failCall(0, 'rejected') });
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: not_made service/timeout']);
  });
});

describe('applyPlan with an unexpected answer', () => {
  test('If the service ignores the update of a field, the prompt fails with an error that names this field', async () => {
    const service = inMemoryBackend();
    await sync(service, [file({ pins: staging })]);
    const ignoringUpdates: PromptService = { ...service, updatePrompt: (promptId) => service.readPrompt(promptId) };
    const { outcomes } = await sync(ignoringUpdates, [file({ name: 'New', pins: staging })]);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: unknown apply/fields-differ']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/that promptsync sent for `name`\.$/);
  });

  test('promptsync treats text as unchanged if the service converts LF line endings to CRLF', async () => {
    const service = inMemoryBackend();
    const storingCrlf: PromptService = {
      ...service,
      createVersion: (promptId, { content, ...version }) => {
        const text = content.text.replaceAll('\n', '\r\n');
        return service.createVersion(promptId, { ...version, content: { ...content, text } });
      },
    };
    const wanted = file({ text: 'a\nb', pins: staging });
    expect((await sync(storingCrlf, [wanted])).outcomes.map(formatOutcome)).toStrictEqual(['applied: made made']);
    expect((await sync(storingCrlf, [wanted])).lines).toStrictEqual([]);
  });

  test('If applying one prompt throws an unexpected exception, promptsync still applies the other prompts', async () => {
    const service = inMemoryBackend();
    const hooks = failCall(0, 'unknown', new TypeError('oh'));
    const { outcomes } = await sync(service, [whole, other], { refs, hooks });
    expect(outcomes.map(formatOutcome)).toStrictEqual([
      'failed: not_made not_made not_made not_made not_made internal/unexpected',
      'applied: made made',
    ]);
  });
});

describe('an interrupted apply', () => {
  function stopAt(at: number, stopping: AbortController) {
    const before = (_: string, index: number): void => {
      if (index === at) stopping.abort();
    };
    return { hooks: { before }, stop: stopping.signal };
  }

  test('An interrupt before the first call marks only prompts with pending changes as not attempted', async () => {
    const service = inMemoryBackend();
    await sync(service, [other]);
    const stop = AbortSignal.abort();
    const statusesOf = async (...files: Parameters<typeof sync>[1]) => {
      const { lines, outcomes } = await sync(service, files, { refs, stop });
      expect(lines).toStrictEqual([]);
      return outcomes.map(({ status }) => status);
    };
    const blocked = { ...file({ pins: { a: 'git:gone' } }), id: 'p1', path: 'prompts/c.md' };
    expect(await statusesOf(whole, other)).toStrictEqual(['not_attempted', 'unchanged']);
    expect(await statusesOf(other, blocked)).toStrictEqual(['unchanged', 'blocked']);
  });

  test.each([
    [0, 'create p1 "Old"', 'failed: made not_made not_made not_made not_made apply/interrupted'],
    [4, 'set p1 promptsync ver_2', 'failed: made made not_made not_made not_made apply/interrupted'],
    [6, 'update p1 {"name":"New"}', 'failed: made made made not_made not_made apply/interrupted'],
    [7, 'set p1 staging ver_2', 'failed: made made made unknown not_made apply/interrupted'],
    [10, 'read p1 production', 'applied: made made made made made'],
  ])(
    'If an interrupt arrives during call %i (%s), promptsync finishes this call and makes no further calls',
    async (at, call, outcome) => {
      const stopping = new AbortController();
      const { lines, outcomes } = await sync(inMemoryBackend(), [whole, other], { refs, ...stopAt(at, stopping) });
      expect([lines.length, lines.at(-1)]).toStrictEqual([at + 1, call]);
      expect(outcomes.map(formatOutcome)).toStrictEqual([outcome, 'not_attempted: not_made not_made']);
    },
  );

  test.each([0, 1])('An interrupt during call %i of a probe prevents all changes to the prompt', async (at) => {
    const stopping = new AbortController();
    const service = inMemoryBackend();
    for (const text of ['A', 'B']) service.addVersion('p1', { text });
    const wanted = file({ pins: { a: 'version:ver_1', b: 'version:ver_2' } });
    const { lines, outcomes } = await sync(service, [wanted], stopAt(at, stopping));
    expect(lines).toHaveLength(at + 1);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['not_attempted: not_made not_made not_made apply/interrupted']);
  });

  test('An interrupt right before the first write of a prompt marks the prompt as not attempted', async () => {
    const controller = new AbortController();
    const parts = { stop: controller.signal, onObserve: () => controller.abort() };
    const { lines, outcomes } = await sync(inMemoryBackend(), [file({ pins: staging })], parts);
    expect(lines).toStrictEqual([]);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['not_attempted: not_made not_made apply/interrupted']);
  });
});

test.each([1, 2])(
  'With a concurrency limit of %i, promptsync makes up to that many calls at once and reports each applied prompt',
  async (concurrency) => {
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
  },
);

const redirect = makeProblem('service/redirect', { status: 302, target: null, isSameOrigin: false });

function redirectCall(call: string): Hooks {
  const before = (line: string): void => {
    if (line.startsWith(call)) throw new ServiceError(redirect, 'rejected');
  };
  return { before };
}

describe('problems of failed calls', () => {
  test.each([
    ['create p1 "Hello"', 'Creating the version: '],
    ['set p1 promptsync ver_2', 'Setting "promptsync" to v2: '],
    ['update p1', 'Updating the prompt: '],
    ['set p1 staging', 'Setting "staging": '],
    ['set p1 production', 'Setting "production": '],
  ])('The error message for the failed call %s names the step that failed', async (call, step) => {
    const { outcomes } = await sync(inMemoryBackend(), [whole], { refs, hooks: redirectCall(call) });
    const message = `${step}The service returned a redirect (302), which promptsync does not follow.`;
    expect(outcomes[0]?.problems).toMatchObject([{ message }]);
  });

  test('If an activation is skipped, its result still names the version that was created for it', async () => {
    const { outcomes } = await sync(inMemoryBackend(), [whole], { refs, hooks: redirectCall('create p1 "Hello"') });
    expect(outcomes[0]?.changes.map(({ change, status, version }) => [change.kind, status, version])).toStrictEqual([
      ['create-version', 'made', { id: 'ver_1', number: 1 }],
      ['create-version', 'not_made', undefined],
      ['update-prompt', 'not_made', undefined],
      ['set-active', 'not_made', undefined],
      ['set-active', 'not_made', { id: 'ver_1', number: 1 }],
    ]);
  });
});

describe('reading back an activation', () => {
  /** Wraps a service so that staging shows something other than its active version. */
  function replaceInStaging(service: Backend, shown: (id: string) => object | null): PromptService {
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

  test.each<[string, () => object | null, serves: string]>([
    [
      'A prompt is reported as failed ten seconds after activation if its environment serves no active version',
      () => null,
      'version "ver_1" in "staging", but "staging" now serves nothing',
    ],
    [
      'A prompt is reported as failed ten seconds after activation if its environment serves a different version',
      () => ({ id: 'ver_9' }),
      'version "ver_1" in "staging", but "staging" now serves version "ver_9"',
    ],
    [
      'A prompt is reported as failed ten seconds after activation if its environment serves different text',
      () => ({ content: { text: 'Theirs', metadata: {} } }),
      'the planned text in "staging", but "staging" now serves different text (v1)',
    ],
  ])('%s', async (_, shown, serves) => {
    let waited = 0;
    const onWait = (milliseconds: number) => void (waited += milliseconds);
    const { outcomes } = await sync(replaceInStaging(inMemoryBackend(), shown), [file({ pins: staging })], {
      onWait,
    });
    expect(waited).toBe(10_000);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: made unknown apply/not-active']);
    expect(outcomes[0]?.problems.map(({ message }) => message)).toStrictEqual([`promptsync activated ${serves}.`]);
  });

  test('promptsync reads an environment again if the service still returns its old state right after an activation', async () => {
    let old = 3;
    const service = replaceInStaging(inMemoryBackend(), () => (old-- > 0 ? null : {}));
    const { outcomes } = await sync(service, [file({ pins: staging })]);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made made']);
  });

  test('If an interrupt ends the wait for confirmation of an activation, promptsync reports its result as unknown', async () => {
    const stopping = new AbortController();
    const parts = { stop: stopping.signal, onWait: () => stopping.abort() };
    const service = replaceInStaging(inMemoryBackend(), () => null);
    const { lines, outcomes } = await sync(service, [file({ pins: staging })], parts);
    expect(lines.slice(-2)).toStrictEqual(['set p1 staging ver_1', 'read p1 staging']);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: made unknown apply/interrupted']);
  });
});

test('A prompt fails without any change if someone activates another version in the probe environment during a probe', async () => {
  const service = inMemoryBackend();
  await sync(service, [file({ pins: staging })]);
  service.addVersion('p1', { text: 'Theirs' });
  const hooks: Hooks = { after: () => service.activate('p1', 'promptsync-look', 'ver_1') };
  const wanted = file({ pins: { staging: 'latest', production: 'version:ver_2' } });
  const { lines, outcomes } = await sync(service, [wanted], { hooks });
  expect(new Set(lines.slice(-7))).toStrictEqual(new Set(['read p1 promptsync-look']));
  expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: not_made apply/changed-meanwhile']);
  expect(outcomes[0]?.problems[0]?.message).toBe(
    'To read a version, promptsync activated it in "promptsync-look", but the service returned a different version.',
  );
});
