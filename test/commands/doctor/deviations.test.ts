import { describe, expect, test } from 'vitest';
import {
  answerNoPrompt,
  answerNotAllowed,
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

const storeText = (change: (text: string) => string) => store(({ text }) => ({ text: change(text) }));

/** Shows a change of the environment only some seconds later. */
function showLate(seconds: number): Deviation {
  return (service, { readActive }) => {
    const readOwn = cached(() => readActive(OWN), seconds, service);
    return { readActive: (environment) => (environment === OWN ? readOwn() : readActive(environment)) };
  };
}

describe('the deviations that doctor --write finds', () => {
  test.each<[service: string, deviate: Deviation, names: readonly string[], found?: string | RegExp]>([
    [
      'doctor --write reports a service that drops metadata_',
      store(() => ({ metadata: {} })),
      ['error metadata_'],
      'the service dropped it',
    ],
    [
      'doctor --write reports a service that changes metadata_',
      store(() => ({ metadata: { 'promptsync-doctor': {} } })),
      ['error metadata_'],
      'the service changed it',
    ],
    [
      'doctor --write reports a service that trims texts',
      storeText((text) => text.trim()),
      ['error text: white space'],
      /leading or trailing whitespace$/,
    ],
    // promptsync ignores line breaks at the end, and compares with LF.
    [
      'doctor --write reports a service that strips line breaks',
      storeText((text) => text.replace(/\n+$/, '')),
      ['warning text: white space'],
      /trailing/,
    ],
    [
      'doctor --write reports a service that converts CRLF',
      storeText((text) => text.replaceAll('\r\n', '\n')),
      ['warning text: CRLF'],
      /with LF instead/,
    ],
    [
      'doctor --write reports a service that normalizes Unicode',
      storeText((text) => text.normalize('NFC')),
      ['error text: Unicode'],
      /form NFC$/,
    ],
    [
      'doctor --write reports a service that cuts off texts',
      storeText((text) => text.slice(0, 65_536)),
      ['error text: 100 kB'],
      /cut off \(65,536 instead/,
    ],
    [
      'doctor --write reports a service that refuses long texts',
      (_, { createVersion }) => ({
        createVersion: (text, metadata) => (text.length > 90_000 ? refuse(413)() : createVersion(text, metadata)),
      }),
      ['error text: 100 kB'],
    ],
    [
      'doctor --write reports a service that gives later versions lower numbers',
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
      'doctor --write reports a service that still serves a version of an earlier run with a higher number',
      (service) => {
        service.versions.push({ id: 'earlier', number: 50, text: 'Earlier.', metadata: {} });
        service.activeId = 'earlier';
        return {};
      },
      ['error version numbers'],
      'not increasing: v3, v4, v5, v6 after v50 from an earlier run',
    ],
    [
      'doctor --write reports a service that omits latest_version_id',
      () => ({ readNewestId: async () => null }),
      ['error latest_version_id'],
    ],
    [
      'doctor --write reports a service that reports the newest version late',
      (service, { readNewestId }) => ({ readNewestId: cached(readNewestId, 3, service) }),
      ['warning latest_version_id'],
      /^reported only after \d\.\d s$/,
    ],
    [
      'doctor --write reports a service that has no other prompt',
      () => ({ findOtherVersionId: async () => null }),
      [`warning ${OTHER}`],
    ],
    [
      'doctor --write reports a service that accepts activations but does not activate the version',
      () => ({ activate: accept, useUnknownVersion: accept }),
      [...UNREAD, 'error activation', 'error unknown version', `error ${OTHER}`],
    ],
    [
      'doctor --write reports a service that refuses all activations',
      () => ({ activate: answerNotAllowed }),
      [...UNREAD, 'error activation', `warning ${OTHER}`],
    ],
    [
      'doctor --write reports a service that accepts an unknown version',
      () => ({ useUnknownVersion: accept }),
      ['error unknown version'],
      'accepted',
    ],
    [
      'doctor --write reports a service that refuses an unknown version with an unexpected status',
      () => ({ useUnknownVersion: refuse(422) }),
      ['warning unknown version'],
      /^refused, but with an unexpected error: .*422/,
    ],
    [
      'doctor --write reports a service that refuses an unknown version, but clears the environment',
      (service) => ({ useUnknownVersion: () => ((service.activeId = null), answerNoVersion()) }),
      ['error unknown version'],
      'refused, but the environment changed anyway',
    ],
    [
      'doctor --write reports a service that serves the newest version even if none is active',
      ({ versions }, { readActive }) => ({
        readActive: async (name) => (name === OWN ? readActive(name) : (versions.at(-1) ?? null)),
      }),
      ['error no active version'],
    ],
    [
      'doctor --write reports a service that does not allow the key to create versions',
      () => ({ createVersion: answerNotAllowed }),
      [
        ...TEXTS.map((name) => `error ${name}`),
        ...['metadata_', 'version numbers', 'latest_version_id', 'activation'].map((name) => `warning ${name}`),
      ],
    ],
    [
      'doctor --write reports a service that caches environments for ten seconds',
      showLate(10),
      ['warning activation'],
      /^visible only after (9|10|11)\.\d s$/,
    ],
    // The last read of a sync comes after ten seconds.
    [
      'doctor --write reports a service that caches environments for half a second more',
      showLate(10.5),
      ['error activation'],
      /^visible only after 1[01]\.\d s$/,
    ],
    [
      'doctor --write reports a service that answers 404 for an environment until the first activation is visible',
      (service, { readActive }) => ({
        readActive: async (name) => {
          if (name === OWN && service.now() < 2_000) return answerNoPrompt();
          return (await readActive(name)) ?? answerNoPrompt();
        },
      }),
      ['warning activation', 'warning no active version'],
    ],
    [
      'doctor --write reports a service that shows an activation only after it has refused an unknown version',
      (_, { readActive, useUnknownVersion }) => {
        let isRefused = false;
        return {
          useUnknownVersion: () => ((isRefused = true), useUnknownVersion()),
          readActive: async (name) => (isRefused ? readActive(name) : null),
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
    [400, true],
    [413, true],
    [422, true],
    [429, false],
  ])(
    'if a create request gets the status %i, whether the hint of doctor --write blames the text is %s',
    async (status, isContentRefused) => {
      const { point } = await checkMemoryService(() => ({ createVersion: refuse(status) }));
      expect(point('text: CRLF').level).toBe('error');
      expect(point('text: CRLF').hint?.includes('accept this kind of text')).toBe(isContentRefused);
    },
  );

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
