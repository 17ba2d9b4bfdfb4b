import fc from 'fast-check';
import { expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { changeOutside, makeSynced, only, PATH, pull, source, textIn, writeSource } from './pulling.ts';

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
      const ran = await pull(scene);
      const written = new Set(source(scene).split('\n'));
      expect(
        [...ours.split('\n'), ...theirs.split('\n')].filter(
          (line) => /^(ours|theirs) /.test(line) && !written.has(line),
        ),
      ).toEqual([]);
      const problems = only(ran).problems.map(({ code, message }) => `${code} ${message}`);
      // Where each side has taken out what the other one kept, there is no text left: then the file stays as it was.
      const nothingLeft = problems.length === 1 && /^edit\/not-kept .* has no text/.test(problems.join());
      if (nothingLeft) expect(textIn(scene)).toBe(ours);
      else expect([ran.exitCode, problems.length]).toEqual(source(scene).includes('<<<<<<<') ? [4, 1] : [0, 0]);
    }),
    { numRuns: 60 },
  );
});
