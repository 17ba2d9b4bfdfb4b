import { describe, expect, test } from 'vitest';
import { wantsColour } from '../../src/cli/terminal.ts';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

describe('colour', () => {
  test.each<[string, boolean, Readonly<Record<string, string>>, boolean, boolean]>([
    ['on a terminal', true, {}, true, true],
    ['elsewhere', false, {}, true, false],
    ['with --no-color', true, {}, false, false],
    ['with --no-color and FORCE_COLOR', true, { FORCE_COLOR: '1' }, false, false],
    ['with NO_COLOR', true, { NO_COLOR: '1' }, true, false],
    ['with an empty NO_COLOR', true, { NO_COLOR: '' }, true, true],
    ['with NO_COLOR and FORCE_COLOR', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['elsewhere with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true, true],
    ['elsewhere with FORCE_COLOR=3', false, { FORCE_COLOR: '3' }, true, true],
    ['on a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, true, false],
    ['on a terminal with FORCE_COLOR=false', true, { FORCE_COLOR: 'false' }, true, false],
    ['on a terminal that cannot show it', true, { TERM: 'dumb' }, true, false],
  ])('%s', (_, isTTY, environment, color, expected) => {
    expect(wantsColour({ color }, { environment }, { isTTY })).toBe(expected);
  });

  test('is the only difference between a terminal and elsewhere', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: { metadata: { a: 1 } } }));
    const service = await startTestService(['greeting']);
    for (const words of [['plan'], ['status'], ['validate']]) {
      const plain = await run(folder, words, service);
      const coloured = await run(folder, words, { ...service, terminal: true });
      expect(plain.stdout).not.toContain('\u001b');
      expect(coloured.stdout).toContain('\u001b[');
      expect(coloured.stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain.stdout);
    }
  });

  test('is in no JSON and in no file', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const service = await startTestService(['greeting']);
    const json = await run(folder, ['plan', '--format', 'json'], { ...service, terminal: true });
    expect(json.stdout).not.toContain('\u001b');
    const toFile = await run(folder, ['plan', '--output', 'out.txt'], { ...service, terminal: true });
    expect(toFile.stderr).not.toContain('\u001b');
  });
});
