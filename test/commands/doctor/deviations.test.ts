import { describe, expect, test } from 'vitest';
import {
  answerNoPrompt,
  answerNoVersion,
  checkMemoryService,
  refuse,
  store,
  type Deviation,
  type MemoryService,
} from './conformance-service.ts';

const OWN = 'promptsync-doctor';
const OTHER = "another prompt's version";
const TEXTS = ['white space', 'CRLF', 'Unicode', '100 kB'].map((name) => `text: ${name}`);

/** The points that doctor cannot check if the environment never serves a version. */
const UNREAD = [...TEXTS, 'metadata_'].map((name) => `warning ${name}`);

const accept = async (): Promise<void> => {};

/** Answers a read from a cache for a number of seconds. */
function cached<Value>(read: () => Promise<Value>, seconds: number, { now }: MemoryService): () => Promise<Value> {
  let known: { readonly at: number; readonly value: Value } | null = null;
  return async () => {
    if (known === null || now() - known.at >= seconds * 1_000) known = { at: now(), value: await read() };
    return known.value;
  };
}

/** Shows a change of the environment only some seconds later. */
function showLate(seconds: number): Deviation {
  return (service, { readActive }) => {
    const readOwn = cached(() => readActive(OWN), seconds, service);
    return { readActive: (environment) => (environment === OWN ? readOwn() : readActive(environment)) };
  };
}

/** Adds a version of the prompt from an earlier run. */
function addEarlier({ versions }: MemoryService, number: number): string {
  versions.push({ id: 'earlier', number, text: 'Earlier.', metadata: {} });
  return 'earlier';
}

describe('the deviations that doctor --write finds', () => {
  test.each<[title: string, deviate: Deviation, names: readonly string[], found?: string | RegExp]>([
    ['doctor --write reports ok for every point of a service that follows the rules', () => ({}), []],
    [
      'doctor --write reports an error if the service drops metadata_',
      store(() => ({ metadata: {} })),
      ['error metadata_'],
      'the service dropped it',
    ],
    [
      'doctor --write reports an error if the service changes metadata_',
      store(() => ({ metadata: { 'promptsync-doctor': {} } })),
      ['error metadata_'],
      'the service changed it',
    ],
    [
      'doctor --write reports an error if the service trims the text of prompts',
      store(({ text }) => ({ text: text.trim() })),
      ['error text: white space'],
      /without its leading or trailing whitespace$/,
    ],
    [
      'doctor --write only warns if the service strips trailing line breaks, because promptsync ignores them',
      store(({ text }) => ({ text: text.replace(/\n+$/, '') })),
      ['warning text: white space'],
      /without its trailing line breaks$/,
    ],
    [
      'doctor --write only warns if the service converts CRLF, because promptsync compares with LF',
      store(({ text }) => ({ text: text.replaceAll('\r\n', '\n') })),
      ['warning text: CRLF'],
      /with LF instead of CRLF line breaks$/,
    ],
    [
      'doctor --write reports an error if the service normalizes Unicode',
      store(({ text }) => ({ text: text.normalize('NFC') })),
      ['error text: Unicode'],
      /in Unicode normalization form NFC$/,
    ],
    [
      'doctor --write reports an error if the service cuts off long texts',
      store(({ text }) => ({ text: text.slice(0, 65_536) })),
      ['error text: 100 kB'],
      /cut off \(65,536 instead of 100,000 characters\)$/,
    ],
    [
      'doctor --write reports an error if the service refuses long texts',
      (_, { createVersion }) => ({
        createVersion: (text, metadata) => (text.length > 90_000 ? refuse(413)() : createVersion(text, metadata)),
      }),
      ['error text: 100 kB'],
    ],
    [
      'doctor --write reports an error if version numbers decrease',
      (_, { createVersion }) => ({
        createVersion: async (text, metadata) => {
          const version = await createVersion(text, metadata);
          return { ...version, number: 99 - version.number };
        },
      }),
      ['error version numbers'],
      'not increasing: v97, v96, v95, v94',
    ],
    [
      'doctor --write checks that new version numbers are higher than that of the version an earlier run left active',
      (service) => {
        service.activeId = addEarlier(service, 50);
        return {};
      },
      ['error version numbers'],
      'not increasing: v3, v4, v5, v6 after v50 from an earlier run',
    ],
    [
      'doctor --write reports an error if the service omits latest_version_id',
      () => ({ readNewestId: async () => null }),
      ['error latest_version_id'],
    ],
    [
      'doctor --write warns if the service reports the newest version late',
      (service, { readNewestId }) => ({ readNewestId: cached(readNewestId, 3, service) }),
      ['warning latest_version_id'],
      /^reported only after \d\.\d s$/,
    ],
    [
      "doctor --write cannot check a different prompt's version before the first prompt file",
      () => ({ findOtherVersionId: async () => null }),
      [`warning ${OTHER}`],
    ],
    [
      'doctor --write reports an error if the service accepts activations but does not activate the version',
      () => ({ activate: accept, useUnknownVersion: accept }),
      [...UNREAD, 'error activation', 'error unknown version', `error ${OTHER}`],
    ],
    [
      'doctor --write reports an error if the service refuses all activations',
      () => ({ activate: refuse(403) }),
      [...UNREAD, 'error activation', `warning ${OTHER}`],
    ],
    [
      'doctor --write reports an error if the service accepts an unknown version id',
      () => ({ useUnknownVersion: accept }),
      ['error unknown version'],
      'accepted',
    ],
    [
      'doctor --write only warns if the service refuses an unknown version id with an unexpected status',
      () => ({ useUnknownVersion: refuse(422) }),
      ['warning unknown version'],
      /^refused, but with an unexpected error: .*422/,
    ],
    [
      'doctor --write reports an error if the service refuses an unknown version, but clears the environment',
      (service) => ({
        useUnknownVersion: async () => {
          service.activeId = null;
          return answerNoVersion();
        },
      }),
      ['error unknown version'],
      'refused, but the environment changed anyway',
    ],
    [
      "doctor --write reports an error if the service accepts another prompt's version",
      (_, { activate }) => ({ activate: (id) => (id === 'other' ? accept() : activate(id)) }),
      [`error ${OTHER}`],
      'accepted',
    ],
    [
      "doctor --write reports an error if another prompt's version changes the environment despite a 404",
      (service, { activate }) => {
        const earlier = addEarlier(service, 1);
        return {
          activate: async (id) => {
            if (id === 'other') service.activeId = earlier;
            await activate(id);
          },
        };
      },
      [`error ${OTHER}`],
      'refused, but the environment changed anyway',
    ],
    [
      'doctor --write reports an error if the service returns a different prompt for an unknown id',
      () => ({ readUnknownPrompt: accept }),
      ['error unknown prompt'],
    ],
    [
      'doctor --write only warns if the service answers 403 for an unknown prompt',
      () => ({ readUnknownPrompt: refuse(403) }),
      ['warning unknown prompt'],
    ],
    [
      'doctor --write reports an error if the service accepts any key',
      () => ({ readWithWrongKey: accept }),
      ['error wrong key'],
    ],
    [
      'doctor --write only warns if the service refuses a wrong key with an unexpected status',
      () => ({ readWithWrongKey: refuse(400) }),
      ['warning wrong key'],
    ],
    [
      'doctor --write only warns if the service answers 404 for an environment without an active version',
      (_, { readActive }) => ({
        readActive: (environment) => (environment === OWN ? readActive(environment) : answerNoPrompt()),
      }),
      ['warning no active version'],
    ],
    [
      'doctor --write reports an error if the service serves the newest version even if none is active',
      ({ versions }, { readActive }) => ({
        readActive: async (environment) => (environment === OWN ? readActive(environment) : (versions.at(-1) ?? null)),
      }),
      ['error no active version'],
    ],
    [
      'doctor --write reports a key that is not allowed to create versions, and still runs the other checks',
      () => ({ createVersion: refuse(403) }),
      [
        ...TEXTS.map((name) => `error ${name}`),
        ...['metadata_', 'version numbers', 'latest_version_id', 'activation'].map((name) => `warning ${name}`),
      ],
    ],
    [
      'doctor --write only warns if the service caches environments for ten seconds',
      showLate(10),
      ['warning activation'],
      /^visible only after (9|10|11)\.\d s$/,
    ],
    [
      'doctor --write reports an error if an activation is visible only half a second after the last read of a sync',
      showLate(10.5),
      ['error activation'],
    ],
    [
      'doctor --write reports an error if the service caches environments for longer than sync waits',
      showLate(20),
      ['error activation'],
      /^visible only after (19|20|21)\.\d s$/,
    ],
    [
      'doctor --write gives up on an environment that never serves the version',
      () => ({ readActive: async () => null }),
      [...UNREAD, 'error activation'],
    ],
    [
      'doctor --write only warns if the service answers 404 for an environment until the first activation is visible',
      (service, { readActive }) => ({
        readActive: async (environment) => {
          if (environment === OWN && service.now() < 2_000) return answerNoPrompt();
          return (await readActive(environment)) ?? answerNoPrompt();
        },
      }),
      ['warning activation', 'warning no active version'],
    ],
    [
      'doctor --write does not blame a refused request for an earlier activation that becomes visible late',
      (_, { readActive, useUnknownVersion }) => {
        let isRefused = false;
        return {
          useUnknownVersion: () => {
            isRefused = true;
            return useUnknownVersion();
          },
          readActive: async (environment) => (isRefused ? readActive(environment) : null),
        };
      },
      [...UNREAD, 'error activation'],
    ],
  ])('%s', async (_, deviate, names, found) => {
    const { points } = await checkMemoryService(deviate);
    const deviations = points.filter(({ level }) => level !== 'ok');
    expect(deviations.map(({ name, level }) => `${level} ${name}`)).toEqual(names);
    const unexplained = deviations.filter((point) => point.hint === null && !point.found.startsWith('not checked'));
    expect(unexplained).toEqual([]);
    if (found !== undefined) expect(deviations[0]?.found).toMatch(found);
  });

  test.each([
    ['doctor --write says that the service refused the text if a create request gets the status 400', 400, true],
    ['doctor --write says that the service refused the text if a create request gets the status 413', 413, true],
    ['doctor --write says that the service refused the text if a create request gets the status 422', 422, true],
    ['doctor --write does not blame the text if a create request gets the status 307', 307, false],
    ['doctor --write does not blame the text if a create request gets the status 404', 404, false],
    ['doctor --write does not blame the text if a create request gets the status 429', 429, false],
  ])('%s', async (_, status, isContentRefused) => {
    const { point } = await checkMemoryService(() => ({ createVersion: refuse(status) }));
    expect(point('text: CRLF').level).toBe('error');
    expect(point('text: CRLF').hint?.includes('accept this kind of text')).toBe(isContentRefused);
  });

  test('the hint for a service that drops metadata_ names the consequences, and that for a wrong status the request', async () => {
    const dropped = await checkMemoryService(store(() => ({ metadata: {} })));
    expect(dropped.point('metadata_').hint).toMatch(/^Ask the operator .*`metadata_`.*version number.*reverting/);
    const { point } = await checkMemoryService(() => ({ activate: accept }));
    expect(point(OTHER).hint).toContain('return 404 for a version that belongs to another prompt');
  });

  test('doctor --write waits only once for an environment that never serves the version', async () => {
    const { time } = await checkMemoryService(() => ({ readActive: async () => null }));
    expect(time).toBeLessThan(40_000);
  });
});
