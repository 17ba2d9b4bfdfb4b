import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Bench } from '../core/bench.ts';
import type { Sample } from '../core/measure.ts';
import { runNode } from '../core/measure.ts';
import { textOf } from '../core/prompts.ts';
import { installPeer } from './install.ts';

/**
 * Prepares `langwatch prompt sync`, unchanged, with the prompts as local files. The variable `LANGWATCH_ENDPOINT`
 * points langwatch to the stand-in. An unmeasured first run creates all prompts, so the measured runs change nothing.
 * Returns null if langwatch cannot be installed.
 */
export async function prepareLangWatchSync(count: number, bench: Bench): Promise<(() => Promise<Sample>) | null> {
  const entry = installPeer('langwatch');
  if (entry === null) return null;
  const folder = bench.folder();
  writePrompts(folder, count);
  const { baseUrl, delay } = await bench.standIn('langwatch');
  const environment = { HOME: folder, LANGWATCH_ENDPOINT: baseUrl, LANGWATCH_API_KEY: 'sk-bench' };
  const run = () => runNode([entry, 'prompt', 'sync'], { cwd: folder, environment });
  await delay(0);
  await run();
  const { stdout } = await run();
  if (!stdout.includes('no changes')) throw new Error(`langwatch changed a prompt: ${stdout.slice(-500)}`);
  return run;
}

function writePrompts(folder: string, count: number): void {
  mkdirSync(join(folder, 'prompts'));
  const names = Array.from({ length: count }, (_, index) => `prompt-${index}`);
  const files = names.map((name) => [name, `file:prompts/${name}.prompt.yaml`]);
  writeFileSync(join(folder, 'prompts.json'), JSON.stringify({ prompts: Object.fromEntries(files) }));
  names.forEach((name, index) => {
    const prompt = { model: 'gpt-5', messages: [{ role: 'system', content: textOf(index, 1) }] };
    writeFileSync(join(folder, 'prompts', `${name}.prompt.yaml`), stringify(prompt));
  });
}
