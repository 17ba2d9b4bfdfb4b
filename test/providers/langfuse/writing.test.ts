import { describe, expect, test } from 'vitest';
import { digestChat } from '../../../src/domain/content.ts';
import { formatOutcome } from '../../applying/support.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { content, file, type FileParts, type RulesParts } from '../../planning/support.ts';
import { handOn, startFront, type FrontAnswer, type FrontRequest } from '../../support/front.ts';
import { sync } from './support.ts';

type CreateBody = { readonly prompt: string; readonly config: Readonly<Record<string, unknown>> };

/** Makes the file of the prompt `p1`, which is also its name in Langfuse. */
const parse = (parts: FileParts) => file({ pins: { staging: 'latest' }, ...parts });
/** What git shows about the file: the commit that last changed it. */
const commit = (letter: string): RulesParts => ({
  history: { provenance: { commit: letter.repeat(40), changeSummary: 'Edit' } },
});

/** Starts a Langfuse behind a gateway that answers the requests that create versions. */
async function startBehindGateway(create: (request: FrontRequest, baseUrl: string) => Promise<FrontAnswer>) {
  const langfuse = await startLangfuse();
  const front = await startFront({
    target: langfuse.baseUrl,
    answer: (request) => (request.method === 'POST' ? create(request, langfuse.baseUrl) : null),
  });
  return { store: langfuse.store, gateway: front };
}

/** Starts a Langfuse behind a gateway that changes the body of each request that creates a version. */
const startRewriting = (rewrite: (body: CreateBody) => object) =>
  startBehindGateway((request, baseUrl) =>
    handOn({ ...request, body: { ...Object(request.body), ...rewrite(request.body as CreateBody) } }, baseUrl),
  );

const loseResponse = async (): Promise<never> => {
  throw new Error('The connection ends.');
};

/** Syncs the file and formats the outcome. */
async function syncFile(to: { readonly baseUrl: string }, parts: FileParts, more: Parameters<typeof sync>[2] = {}) {
  const { outcomes } = await sync(to, [parse(parts)], more);
  return outcomes.map(formatOutcome).join();
}

describe('a gateway that rewrites versions', () => {
  const METADATA = { model: 'gpt-5', temperature: 0 };
  const dropModel = ({ config: { model: _, ...config } }: CreateBody) => ({ config });

  test.each<[what: string, rewrite: (body: CreateBody) => object]>([
    ['Repeated syncs create only one version if a gateway drops a config key', dropModel],
    [
      'Repeated syncs create only one version if a gateway changes white space in the text',
      ({ prompt }) => ({ prompt: prompt.replaceAll(/\s+/g, ' ') }),
    ],
  ])('%s', async (_, rewrite) => {
    const { store, gateway } = await startRewriting(rewrite);
    const parts = { text: 'Hello  there.', metadata: METADATA };
    // Langfuse moved the label in the request that created the version.
    expect(await syncFile(gateway, parts, commit('a'))).toBe('failed: made made apply/rewritten');
    const { outcomes } = await sync(gateway, [parse(parts)], commit('a'));
    expect(outcomes.map(formatOutcome)).toEqual(['failed: not_made not_made apply/rewritten']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/already active in "staging"/);
    expect(store.versions('p1')).toHaveLength(1);
  });

  test('sync creates one more version for each new commit, also for one that the gateway rewrites', async () => {
    const { store, gateway } = await startRewriting(dropModel);
    const create = (letter: string, metadata: FileParts['metadata'] & object) =>
      syncFile(gateway, { text: 'Hello.', metadata }, commit(letter));
    expect(await create('a', { temperature: 0 })).toBe('applied: made made');
    expect(await create('b', METADATA)).toBe('failed: made made apply/rewritten');
    expect(await create('b', METADATA)).toBe('failed: not_made not_made apply/rewritten');
    expect(await create('c', { temperature: 1 })).toBe('applied: made made');
    expect(store.versions('p1')).toHaveLength(3);
  });

  test('sync creates a new version of an uncommitted file even if an earlier version has no message either', async () => {
    const { store, gateway } = await startRewriting(dropModel);
    for (const model of ['first', 'second']) await syncFile(gateway, { text: 'Hello.', metadata: { model } });
    expect(store.versions('p1')).toHaveLength(2);
  });

  test('sync succeeds if only the create response contains a rounded number', async () => {
    const { gateway } = await startBehindGateway(async (request, baseUrl) => {
      const created = await handOn(request, baseUrl);
      return { ...created, body: created.body.replace('0.30000000000000004', '0.3') };
    });
    expect(await syncFile(gateway, { metadata: { score: 0.1 + 0.2 } })).toBe('applied: made made');
  });
});

describe('a create request whose response is lost', () => {
  /** Starts a Langfuse whose version 1 serves staging with a config. Each create request is answered by `create`. */
  async function startServing(create: Parameters<typeof startBehindGateway>[0]) {
    const started = await startBehindGateway(create);
    started.store.addVersion('p1', { text: 'One.', config: { model: 'gpt-5' }, labels: ['staging'] });
    return started;
  }

  test('After a lost create response, sync adopts a version with exactly the inherited config', async () => {
    const { store, gateway } = await startServing(async (request, baseUrl) => {
      await handOn(request, baseUrl);
      return loseResponse();
    });
    const { outcomes } = await sync(gateway, [parse({ text: 'Two.' })]);
    expect(outcomes.map(formatOutcome)).toEqual(['applied: adopted made']);
    expect(outcomes[0]?.changes[0]).toMatchObject({ isRecovered: true });
    expect(store.serves('p1', 'staging')).toMatchObject({ version: 2, config: { model: 'gpt-5' } });
  });

  test.each([[{ model: 'evil' }], [{}]])(
    'After a lost create response, sync does not adopt a version whose config is %j instead of the inherited config',
    async (config) => {
      const { store, gateway } = await startServing(async (request, baseUrl) => {
        // The same text and commit message, as the run of another clone sends them.
        await handOn({ ...request, body: { ...Object(request.body), config, labels: [] } }, baseUrl);
        return loseResponse();
      });
      const { outcomes } = await sync(gateway, [parse({ text: 'Two.' })]);
      expect(outcomes.map(formatOutcome)).toEqual(['failed: unknown unknown apply/outcome-unknown']);
      expect(outcomes[0]?.problems[0]?.message).toContain('The connection to Langfuse was lost');
      expect(store.serves('p1', 'staging')).toMatchObject({ version: 1 });
    },
  );
});

test('If Langfuse reuses the number of a deleted pinned version, sync does not activate the new version in the pinned environment', async () => {
  const { store, gateway } = await startBehindGateway(async (request, baseUrl) => {
    // Somebody deletes the only version right before the create, so the new version gets its number.
    store.deleteVersion('p1', 1);
    return handOn(request, baseUrl);
  });
  store.addVersion('p1', { text: 'Pinned.' });
  const pins = { staging: 'latest', production: 1 };
  expect(await syncFile(gateway, { text: 'New.', pins })).toBe('failed: made made not_made apply/other-content');
  expect(store.serves('p1', 'staging')).toMatchObject({ version: 1, text: 'New.' });
  expect(store.serves('p1', 'production')).toBeNull();
});

describe('labels that move to an existing version', () => {
  const BOTH = { staging: 2, production: 2 };
  const PATCH = 'PATCH p1 v2 [staging, production]';
  /** A composition tag that includes its own prompt, which Langfuse cannot resolve. */
  const makeCircular = (version: number) => `@@@langfusePrompt:name=p1|version=${version}@@@`;

  /**
   * Starts a Langfuse in which version 1 has both labels.
   * @param secondText the text of version 2, which Langfuse does not check
   * @param onFirstMove called right after the first request has moved the labels
   */
  async function start(secondText = 'Two.', onFirstMove = () => {}) {
    let writes = 0;
    const pause = async () => void ((writes += 1) === 1 && setImmediate(onFirstMove));
    const langfuse = await startLangfuse({ pause });
    langfuse.store.addVersion('p1', { text: 'One.', labels: ['staging', 'production'] });
    langfuse.store.addComposedVersion('p1', secondText);
    return { langfuse, store: langfuse.store, move: () => syncFile(langfuse, { text: 'One.', pins: BOTH }) };
  }

  test('sync moves two labels to the same version in one request', async () => {
    const { langfuse, store, move } = await start();
    expect(await move()).toBe('applied: made made');
    expect(langfuse.takeWrites()).toEqual([PATCH]);
    expect(store.serves('p1', 'production')).toMatchObject({ version: 2 });
  });

  test('sync moves a label again in a separate request if Langfuse still returns the old version for it', async () => {
    const started = await start('Two.', () => started.store.moveLabel('p1', 1, 'production'));
    expect(await started.move()).toBe('applied: made made');
    expect(started.langfuse.takeWrites()).toEqual([PATCH, 'PATCH p1 v2 [production]']);
    expect(started.store.serves('p1', 'production')).toMatchObject({ version: 2 });
  });

  test('sync reports the labels as moved if Langfuse moved them but cannot resolve the composition', async () => {
    const { store, move } = await start(makeCircular(2));
    expect(await move()).toBe('applied: made made langfuse/composition-fails');
    expect(store.serves('p1', 'production')).toMatchObject({ version: 2 });
  });

  test('sync reports no broken composition if only the version that previously had the labels is broken', async () => {
    const { store, move } = await start();
    const broken = store.addComposedVersion('p1', makeCircular(3));
    for (const label of ['staging', 'production']) store.moveLabel('p1', broken, label);
    expect(await move()).toBe('applied: made made');
    expect(store.serves('p1', 'production')).toMatchObject({ version: 2 });
  });

  test.each([
    [400, 'not_made not_made langfuse/refused'],
    [409, 'unknown unknown apply/not-active apply/not-active'],
    [500, 'unknown unknown service/unexpected-status service/unexpected-status'],
  ])('sync fails if Langfuse answers %i to a move of labels and did not move them', async (status, expected) => {
    const { langfuse, store, move } = await start();
    langfuse.fail({ method: 'PATCH', path: /versions/ }, { status, body: { message: 'Conflict' } }, 9);
    expect(await move()).toBe(`failed: ${expected}`);
    expect(langfuse.takeWrites()).toHaveLength({ 400: 1, 409: 2, 500: 4 }[status] ?? 0);
    expect(store.serves('p1', 'production')).toMatchObject({ version: 1 });
  });
});

describe('the config of a new version', () => {
  test('sync copies even a config that is not a mapping to the new version if the prompt file has no metadata', async () => {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('p1', { text: 'One.', config: [1, { a: 2 }], labels: ['staging'] });
    expect(await syncFile(langfuse, { text: 'Two.' })).toBe('applied: made made');
    expect(langfuse.store.serves('p1', 'staging')).toMatchObject({ version: 2, config: [1, { a: 2 }] });
    expect(await syncFile(langfuse, { text: 'Three.', metadata: { model: 'm' } })).toBe('applied: made made');
    expect(langfuse.store.serves('p1', 'staging')).toMatchObject({ version: 3, config: { model: 'm' } });
  });

  test('A new version inherits the config from the first environment in promotion order, even if its file lists another one first', async () => {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('p1', { text: 'One.', config: { model: 'live' }, labels: ['production'] });
    langfuse.store.addVersion('p1', { text: 'Two.', config: { model: 'tried' }, labels: ['staging'] });
    const parts = { text: 'Three.', pins: { production: 1, staging: 'latest' } };
    await syncFile(langfuse, parts, { environmentOrder: ['staging', 'production'] });
    expect(langfuse.store.serves('p1', 'staging')?.config).toEqual({ model: 'tried' });
  });

  test('sync moves a label to the planned version, not to a later version with the same text', async () => {
    const langfuse = await startLangfuse();
    const refs = { bare: content('Same'), first: content('Same', { model: 'first' }) };
    const pins = { one: 'git:bare', two: 'git:first', three: 'latest' };
    await syncFile(langfuse, { text: 'Same', metadata: { model: 'second' }, pins }, { refs });
    const models = ['one', 'two', 'three'].map((label) => langfuse.store.serves('p1', label)?.config);
    expect(models).toEqual([{ model: 'first' }, { model: 'first' }, { model: 'second' }]);
  });
});

describe('a type that differs between the file and Langfuse', () => {
  const messages = [{ role: 'user', content: 'Hi.' }];
  const chat = { type: 'chat', content: { ...digestChat(messages), metadata: undefined, metadataDigest: undefined } };

  test('sync blocks a chat prompt if Langfuse has a text prompt with its name, even without labels', async () => {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('p1', { text: 'Hi.' });
    const { outcomes } = await sync(langfuse, [parse(chat as FileParts)]);
    expect(outcomes.map(formatOutcome).join()).toMatch(/^blocked: .*prompt\/other-type$/);
    expect(outcomes[0]?.problems[0]?.hint).toMatch(/`type: text`.*different id/);
    expect(langfuse.takeWrites()).toEqual([]);
  });

  test('sync blocks a new chat prompt if somebody creates a text prompt with the same name at the same time', async () => {
    const { store, gateway } = await startBehindGateway(async (request, baseUrl) => {
      if (store.versions('p1').length === 0) store.addVersion('p1', { text: 'Hi.' });
      return handOn(request, baseUrl);
    });
    expect(await syncFile(gateway, chat as FileParts)).toMatch(/^blocked: .*prompt\/other-type$/);
    expect(store.versions('p1')).toHaveLength(1);
  });
});
