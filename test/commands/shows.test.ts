import { expect, test } from 'vitest';
import { startServe } from '../support/cli.ts';
import { copyExample, makeFolder, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { KEY } from '../support/service.ts';

test('sync creates versions for the example workspace and then has nothing to do until a file is edited', async () => {
  const folder = makeFolder();
  copyExample(folder);
  const { baseUrl } = await startServe(folder, ['--db', 'service.db', '--seed']);
  const front = await startFront({ target: baseUrl });
  const options = { environment: { PROMPTSYNC_BASE_URL: front.baseUrl, PROMPTSYNC_API_KEY: KEY } };

  const first = await run(folder, ['sync', '--yes'], options);
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('3 new versions') });
  expect(front.takeWrites().filter((write) => write.includes('versions'))).toHaveLength(3);

  const second = await run(folder, ['sync', '--yes'], options);
  expect(second).toEqual({ exitCode: 0, stdout: 'nothing to do: 3 prompts in sync.\n', stderr: '' });
  expect(front.takeWrites()).toEqual([]);

  writeFiles(folder, { 'prompts/summary.md': promptText('summary', { key: 'summary', text: 'Shorter.' }) });
  const plan = await run(folder, ['sync', '--dry-run', '--exit-code'], options);
  expect(plan).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('+Shorter.') });
});
