import { expect, test } from 'vitest';
import { promptOf, reportOf, setActive } from '../../report/support.ts';
import { makeJob } from './support.ts';

test('promptsync comment shortens a note that exceeds the size limit of GitLab, which counts characters', async () => {
  const { gitlab, publish } = await makeJob();
  const change = setActive({ after_text: '😀'.repeat(24_000) });
  const prompts = Array.from({ length: 40 }, (_, at) =>
    promptOf({ key: `k/${at}`, status: 'pending', changes: [change] }),
  );
  expect((await publish(reportOf(prompts))).exitCode).toBe(0);
  const [{ body } = { body: '' }] = gitlab.notes(1);
  expect(body).toMatch(
    /not complete\. This page omits \d+ text changes\. For the complete report, see .*\[the run\]\(http/,
  );
  expect(body.length).toBeGreaterThan(700_000);
});
