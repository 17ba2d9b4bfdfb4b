import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReport } from '../support/run.ts';
import { KEY } from '../support/service.ts';
import { makeStage, parseTranscript, renderStep } from './transcript.ts';

/** Defines a test for each transcript of a folder. `vitest -u` writes the current output, so review the diff. */
export function checkTranscripts(folder: string): void {
  const files = globSync(join(import.meta.dirname, folder, '*.txt')).toSorted();
  describe('transcripts', () => {
    test.each(files.map((file) => [basename(file, '.txt'), file]))(
      'The commands of the transcript %s print exactly its text',
      async (_, file) => {
        const { run, normalize } = await makeStage();
        const blocks: string[] = [];
        for (const step of parseTranscript(readFileSync(file, 'utf8'))) {
          const ran = await run(step.command);
          expect(ran.stdout + ran.stderr).not.toContain(KEY);
          if (ran.stdout.startsWith('{\n  "schema_version": 1,\n  "mode"')) parseReport(ran.stdout);
          blocks.push(renderStep(step, ran));
        }
        await expect(normalize(`${blocks.join('\n\n')}\n`)).toMatchFileSnapshot(file);
      },
    );
  });
}
