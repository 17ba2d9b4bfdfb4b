import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import { parsePromptFile } from '../../../src/workspace/parse-prompt-file.ts';
import { git } from '../../support/folder.ts';
import { runs, SEED } from '../../support/seed.ts';
import { makeAdoption } from './importing.ts';

const ENVIRONMENTS = ['staging', 'canary', 'production'] as const;

/** The text and the metadata of a version. There are few choices for each, so environments often serve the same content. */
const content = fc.record({
  content: fc.constantFrom('One.', 'Two.', 'Two.\r\nLines.\n\n', '---\n---\n\n{{x}}', ' a\n\n b '),
  metadata: fc.constantFrom<JsonObject>({}, { model: 'a' }, { model: 'b' }),
});
/** The content that each environment serves. Null for an environment without an active version. */
const served = fc.record(Object.fromEntries(ENVIRONMENTS.map((name) => [name, fc.option(content)])));

/** Returns the text and the metadata of a prompt file in each commit that changed the file. */
function listCommitted(folder: string, path: string): readonly string[] {
  const commits = git(folder, 'log', '--format=%H', '--', path).split('\n').filter(Boolean);
  return commits.map((commit) => {
    const { file } = parsePromptFile(Buffer.from(`${git(folder, 'show', `${commit}:${path}`)}\n`), path);
    return JSON.stringify([file?.content.text, file?.content.metadata ?? {}]);
  });
}

const normalize = (text: string): string => text.replaceAll('\r\n', '\n').replace(/\n+$/, '');

test('After import --commit, git holds the text and metadata of every served version, and the next plan activates nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(served, { minLength: 1, maxLength: 3 }), async (prompts) => {
      const names = prompts.map((_, index) => `p${index}`);
      const { folder, service, importAll, json } = await makeAdoption(
        Object.fromEntries(names.map((name) => [name, {}])),
      );
      for (const [index, name] of names.entries()) {
        for (const [environment, draft] of Object.entries(prompts[index] ?? {})) {
          if (draft === null) continue;
          const versionId = service.store.createVersion(`prm_${name}`, draft)?.id ?? '';
          service.store.setActive(`prm_${name}`, { environment, versionId });
        }
      }
      const { report } = await importAll('--commit');
      expect(report.problems).toEqual([]);
      for (const [index, name] of names.entries()) {
        const drafts = Object.values(prompts[index] ?? {}).filter((draft) => draft !== null);
        const wanted = new Set(drafts.map((draft) => JSON.stringify([normalize(draft.content), draft.metadata])));
        const committed = listCommitted(folder, `prompts/${name}.md`);
        expect(new Set(committed)).toEqual(wanted);
        // No commit repeats the content of an earlier commit.
        expect(committed).toHaveLength(wanted.size);
      }
      if (report.committed === undefined) return;
      expect(git(folder, 'status', '--short')).toBe('');
      const { summary } = (await json('plan')).report;
      expect(summary).toMatchObject({ set_active: 0, update_prompt: 0, blocked: 0 });
    }),
    { numRuns: runs(24), seed: SEED },
  );
});
