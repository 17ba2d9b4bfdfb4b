import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder with a configuration and so many prompt files; whoever makes it removes it. */
export function makeWorkspace(files: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'promptsync-bench-'));
  mkdirSync(join(folder, 'prompts'));
  writeFileSync(join(folder, 'promptsync.yaml'), 'service:\n  embedded: service.db\n');
  for (let index = 0; index < files; index++) {
    const head = `---\nid: prm_${index}\nkey: bench/${index}\nname: Prompt ${index}\npins:\n  staging: latest\n---\n\n`;
    writeFileSync(join(folder, 'prompts', `${index}.md`), `${head}You are agent ${index}.\n`);
  }
  return folder;
}
