import { describe, expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { makeTeam } from './team.ts';

describe('The comment', () => {
  test('says so when there is nothing to do, and stays the one', async () => {
    const { github, push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: {} });
    await runPush(pushMain({}));
    push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) });
    await runPull(openPull('change'));
    push('change', { 'prompts/greeting.md': promptText('greeting'), 'README.md': 'Words' });
    const ran = await runPull(openPull('change'));
    expect(ran.outputs['changes']).toBe('false');
    expect(github.comments(1).map(({ body }) => body)).toEqual([
      expect.stringContaining('nothing to do: 1 prompt in sync.'),
    ]);
  });

  test.each<[string, Record<string, string>, boolean, number]>([
    ['is not written when there is nothing to do and only changes are wanted', { comment: 'changes' }, false, 0],
    ['is written for changes when only changes are wanted', { comment: 'changes' }, true, 1],
    ['is not written when none is wanted', { comment: 'never' }, true, 0],
    ['is not written without a token', { 'github-token': '' }, true, 0],
  ])('%s', async (_, inputs, changes, count) => {
    const { github, push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: {} });
    await runPush(pushMain({}));
    push('change', changes ? { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) } : { x: 'y' });
    const ran = await runPull(openPull('change'), { inputs });
    expect(ran.exitCode).toBe(0);
    expect(ran.outputs['changes']).toBe(String(changes));
    expect(github.comments(1)).toHaveLength(count);
  });

  test('shows the problems of invalid files, each annotated at its line, and no plan', async () => {
    const { github, push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', { 'prompts/greeting.md': '---\nid: prm_greeting\nkey: greeting\nnmae: x\n---\nText\n' });
    const ran = await runPull(openPull('change'));
    expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid', 'plan-digest': '' } });
    expect(ran.stdout).toMatch(
      /^::error title=prompt\/unknown-field,file=prompts\/greeting\.md,line=4,col=1::The field "nmae" is not known\./m,
    );
    expect(github.comments(1)[0]?.body).toContain('The field "nmae" is not known.');
    expect(github.comments(1)[0]?.body).not.toContain('<!-- plan');
  });

  test('is one for each working directory', async () => {
    const team = await makeTeam({ greeting: {} });
    const files = { 'b/promptsync.yaml': 'prompts: ["*.md"]\n', 'b/other.md': promptText('greeting', { text: 'B' }) };
    team.push('change', files);
    const pull = team.openPull('change');
    await team.runPull(pull);
    const ran = await team.runPull(pull, { inputs: { 'working-directory': 'b' } });
    await team.runPull(pull, { inputs: { 'working-directory': './b/' } });
    expect(team.github.comments(1)).toHaveLength(2);
    expect(team.github.comments(1)[1]?.body).toContain('### promptsync plan in `b`');
    expect(ran.stdout).toContain('other.md');
  });

  test('of an older run does not replace that of a newer commit', async () => {
    const { github, push, openPull, runPull } = await makeTeam({ greeting: {} });
    push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'One' }) });
    const older = openPull('change');
    push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Two' }) });
    await runPull(openPull('change'));
    const [before] = github.comments(1);
    expect((await runPull(older)).exitCode).toBe(0);
    expect(github.comments(1)).toEqual([before]);
  });
});
