import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { PromptService } from '../../src/service/prompt-service.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { content, file } from '../planning/support.ts';
import { outcomeLine, sync } from './support.ts';

const staging = { staging: 'latest' };
const WARNING =
  'The version in "promptsync" carries no record of promptsync\'s: the service drops `metadata_`, or somebody moved that environment.';

/** A service that keeps the text of a version that is made, and of its metadata what it likes. */
function keeping(service: Backend, keep: (metadata: JsonObject) => JsonObject): PromptService {
  return {
    ...service,
    createVersion: async (promptId, { text, metadata }) => {
      const id = service.addVersion(promptId, {
        text,
        metadata: keep(metadata),
      });
      service.activate(promptId, 'made-last', id);
      const { activeVersion } = await service.readPrompt(promptId, 'made-last');
      return activeVersion!;
    },
  };
}

const dropping = (service: Backend) => keeping(service, () => ({}));

describe.each([
  ['a file without metadata', file({ text: 'One', pins: staging })],
  ['a file with metadata', file({ text: 'One', metadata: { model: 'x' }, pins: staging })],
])('Where the service drops all metadata, %s', (_, wanted) => {
  const edited = (text: string) => ({ ...wanted, content: content(text, wanted.content.metadata) });

  test('is synced with a warning that names the environment in which it shows', async () => {
    const service = inMemoryBackend();
    const { outcomes } = await sync(dropping(service), [wanted]);
    expect(outcomes[0]?.problems).toMatchObject([{ severity: 'warning', path: 'prompts/a.md', message: WARNING }]);
    const draft = { ...wanted, pins: file({ pins: { staging: 1 } }).pins };
    const again = await sync(dropping(service), [draft]);
    expect(again.outcomes.map(outcomeLine)).toStrictEqual(['unchanged: service/drops-metadata']);
    expect(again.outcomes[0]?.problems[0]).toMatchObject({ path: 'prompts/a.md', message: WARNING });
  });

  test('is warned of once, however many versions a run makes', async () => {
    const service = inMemoryBackend();
    await sync(dropping(service), [wanted]);
    const { pins } = file({ pins: { staging: 'latest', production: 'git:v1' } });
    const { outcomes } = await sync(dropping(service), [{ ...edited('Two'), pins }], { refs: { v1: content('Old') } });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made made made service/drops-metadata']);
  });

  test('is adopted from a run that was cut short', async () => {
    const service = inMemoryBackend();
    await sync(dropping(service), [wanted]);
    const id = service.addVersion('p1', { text: 'Two' });
    const { outcomes } = await sync(dropping(service), [edited('Two')]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: adopted made service/drops-metadata']);
    expect(service.serves('p1', 'staging')).toStrictEqual([id, 'Two']);
  });

  test('goes back to a text by another version: nothing remembers the first', async () => {
    const service = inMemoryBackend();
    await sync(dropping(service), [wanted]);
    await sync(dropping(service), [edited('Two')]);
    await sync(dropping(service), [wanted]);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_3', 'One']);
  });
});

test("Where the service drops the file's metadata and keeps the tool's, the version is made active nowhere", async () => {
  const service = keeping(inMemoryBackend(), ({ promptsync }) => ({ promptsync: promptsync! }));
  const { lines, outcomes } = await sync(service, [file({ metadata: { model: 'x' }, pins: staging })]);
  expect(lines).toStrictEqual(['create p1 "Hello"']);
  expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: made not_made apply/rewritten']);
});
