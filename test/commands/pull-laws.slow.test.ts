import fc from 'fast-check';
import { expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { changeOutside, makeSynced, PATH, pull, source, writeSource } from './pulling.ts';

test('whatever both sides write, no line of either is lost', async () => {
  const scene = await makeSynced({});
  const head = git(scene.folder, 'rev-parse', 'HEAD');
  const lines = (own: string) =>
    fc.array(fc.constantFrom('One.', 'Two.', 'Three.', '', `${own} 1`, `${own} 2`), { minLength: 1, maxLength: 8 });
  const text = (own: string) =>
    lines(own)
      .map((all) => all.join('\n'))
      .filter((one) => one.trim() !== '');
  await fc.assert(
    fc.asyncProperty(text('ours'), text('theirs'), async (ours, theirs) => {
      git(scene.folder, 'checkout', '--quiet', head, '--', PATH);
      writeSource(scene, promptText('greeting', { text: ours }));
      changeOutside(scene, { content: theirs });
      const { exitCode } = await pull(scene);
      const written = new Set(source(scene).split('\n'));
      expect(
        [...ours.split('\n'), ...theirs.split('\n')].filter(
          (line) => /^(ours|theirs) /.test(line) && !written.has(line),
        ),
      ).toEqual([]);
      expect(exitCode).toBe(source(scene).includes('<<<<<<<') ? 4 : 0);
    }),
    { numRuns: 60 },
  );
});
