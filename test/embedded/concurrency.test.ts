import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VersionShape } from '../../src/providers/four-call/api-shapes.ts';
import { startServe } from '../support/cli.ts';
import { makeFolder, makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { KEY } from '../support/service.ts';
import { startService } from './support.ts';

const FROM_1_TO_100 = Array.from({ length: 100 }, (_, index) => index + 1);

test('three servers that concurrently create 100 versions in one new database use each version number from 1 to 100 exactly once', async () => {
  const folder = makeWorkspace(workspaceFiles({ a: {} }));
  const servers = await Promise.all([1, 2, 3].map(() => startServe(folder, ['--db', 'new/service.db', '--seed'])));
  const numbers = await Promise.all(
    FROM_1_TO_100.map(async (n) => {
      const response = await fetch(`${servers[n % 3]?.baseUrl}/v1/integration/prompts/prm_a/versions`, {
        method: 'POST',
        headers: { 'X-API-Key': KEY, 'Content-Type': 'application/json' },
        body: JSON.stringify({ content: `text ${n}` }),
      });
      const version = VersionShape.parse(await response.json());
      expect(version.content).toBe(`text ${n}`);
      return version.version_number;
    }),
  );
  expect(numbers.toSorted((a, b) => a - b)).toEqual(FROM_1_TO_100);
});

test('two servers that share a database both report the most recently created version as the latest', async () => {
  const path = join(makeFolder(), 'service.db');
  const [one, two] = [await startService({ path }), await startService({ path })];
  for (const service of [one, two, one, two]) {
    const version = await service.create('p1', { content: 'x' });
    expect((await one.read('p1')).body.latest_version_id).toBe(version.body.id);
    expect((await two.read('p1')).body.latest_version_id).toBe(version.body.id);
  }
});
