import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { VersionShape } from '../../src/providers/four-call/api-shapes.ts';
import { makeFolder } from '../support/folder.ts';
import { KEY, startService } from './support.ts';

const FROM_1_TO_100 = Array.from({ length: 100 }, (_, index) => index + 1);

test('three servers that concurrently create 100 versions in one new database use each version number from 1 to 100 exactly once', async () => {
  const path = join(makeFolder(), 'new', 'service.db');
  const baseUrls = await Promise.all([spawnServer(path), spawnServer(path), spawnServer(path)]);
  expect(await createFrom(baseUrls)).toEqual(FROM_1_TO_100);
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

/** Sends 100 concurrent create calls, in turn to each server. Returns the sorted version numbers. */
async function createFrom(baseUrls: readonly string[]): Promise<readonly number[]> {
  const numbers = await Promise.all(
    FROM_1_TO_100.map(async (n) => {
      const response = await fetch(`${baseUrls[n % baseUrls.length]}/v1/integration/prompts/p1/versions`, {
        method: 'POST',
        headers: { 'X-API-Key': KEY, 'Content-Type': 'application/json' },
        body: JSON.stringify({ content: `text ${n}` }),
      });
      const version = VersionShape.parse(await response.json());
      expect(version.content).toBe(`text ${n}`);
      return version.version_number;
    }),
  );
  return numbers.toSorted((a, b) => a - b);
}

/** Starts a process that serves the file, and waits for its base URL. */
async function spawnServer(path: string): Promise<string> {
  const script = fileURLToPath(new URL('serve-file.ts', import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error('The process ended before it served.');
}
