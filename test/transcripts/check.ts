import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReport } from '../support/run.ts';
import { KEY } from '../support/service.ts';
import { makeStage, parseTranscript, renderStep } from './transcript.ts';

/** A test for each transcript of a folder. With `-u` it writes what the commands print now: read the difference. */
export function checkTranscripts(folder: string): void {
  const files = globSync(join(import.meta.dirname, folder, '*.txt')).toSorted();
  describe('transcripts', () => {
    test.each(files.map((file) => [basename(file, '.txt'), file]))('%s', async (_, file) => {
      const { run, steady } = await makeStage();
      const blocks: string[] = [];
      for (const step of parseTranscript(readFileSync(file, 'utf8'))) {
        const ran = await run(step.command);
        expect(ran.stdout + ran.stderr).not.toContain(KEY);
        if (ran.stdout.startsWith('{\n  "schema_version"')) parseReport(ran.stdout);
        blocks.push(renderStep(step, ran));
      }
      await expect(steady(`${blocks.join('\n\n')}\n`)).toMatchFileSnapshot(file);
    });
  });
}
