/**
 * How long the command line takes to start, as ratios to `node -e 0` in the same run (medians).
 * Run with `npm run bench`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROUNDS = 21;
const cli = join(import.meta.dirname, '../dist/cli.js');
const workspace = makeWorkspace(10);

const cases: Readonly<Record<string, readonly string[]>> = {
  'node -e 0': ['-e', '0'],
  'promptsync --help': [cli, '--help'],
  'promptsync validate (10 files)': [cli, 'validate', '--config', join(workspace, 'promptsync.yaml')],
};

const times = new Map(Object.keys(cases).map((name): [string, number[]] => [name, []]));
// Rounds are interleaved, so that whatever else the machine does falls on all cases alike; the first only warms up.
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, words] of Object.entries(cases)) {
    const milliseconds = run(words);
    if (round > 0) times.get(name)?.push(milliseconds);
  }
}
rmSync(workspace, { recursive: true });

const floor = median(times.get('node -e 0') ?? []);
console.log(`start-up, medians of ${ROUNDS} rounds, Node ${process.version}`);
for (const [name, all] of times) {
  const time = median(all);
  console.log(`${name.padEnd(32)} ${time.toFixed(0).padStart(5)} ms   ${(time / floor).toFixed(2)} × floor`);
}

function run(words: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [...words]);
  if (status !== 0) throw new Error(`${words.join(' ')} exited with ${status}: ${stderr.toString()}`);
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function makeWorkspace(files: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'promptsync-bench-'));
  mkdirSync(join(folder, 'prompts'));
  writeFileSync(join(folder, 'promptsync.yaml'), 'service:\n  embedded: service.db\n');
  for (let index = 0; index < files; index++) {
    const head = `---\nid: prm_${index}\nkey: bench/${index}\nname: Prompt ${index}\npins:\n  staging: latest\n---\n\n`;
    writeFileSync(join(folder, 'prompts', `${index}.md`), `${head}You are agent ${index}.\n`);
  }
  return folder;
}
