import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isInstalled } from '../support/pty.ts';
import { run } from '../support/run.ts';
import { makeStage } from './completing.ts';

/** Runs a script in a shell; nothing of the user's own is read. */
async function inShell(shell: 'bash' | 'fish', script: string): Promise<readonly string[]> {
  const stage = makeStage();
  const options = shell === 'bash' ? ['--norc', '--noprofile'] : ['--no-config'];
  const output = execFileSync(shell, [...options, '-c', script], { ...stage, encoding: 'utf8' });
  expect(existsSync(join(stage.cwd, 'pwned'))).toBe(false);
  return output.split('\n').slice(0, -1);
}

test.each(['bash', 'zsh', 'fish'])('the script for %s is printed with nothing else', async (shell) => {
  const { stdout, stderr, exitCode } = await run('.', ['completion', shell]);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toMatch(/^#(compdef promptsync\n#)? Completes promptsync in /m);
});

test.skipIf(!isInstalled('bash')).each([
  ['pla', 'pla', ['plan']],
  ['plan --on-drift=', '', ['overwrite', 'fail']],
  ['promote x --to ', '', ['staging', 'production']],
  [
    'history ',
    '',
    ['\\$\\(touch\\ pwned\\)', '\\`touch\\ pwned\\`', 'my\\ key', 'team:greeting', "it\\'s", 'support/a%sb'],
  ],
  ['plan --config ', '', ['(-o default)']],
  ['init --dir ', '', ['(-o dirnames)']],
])('bash completes: promptsync %s', async (words, replaced, expected) => {
  const script = `source <(promptsync completion bash)
    compopt() { echo "($*)"; }
    COMP_LINE=${JSON.stringify(`promptsync ${words} behind the cursor`)} COMP_POINT=${`promptsync ${words}`.length}
    _promptsync promptsync ${JSON.stringify(replaced)}
    for one in "\${COMPREPLY[@]}"; do printf '%s\\n' "$one"; done`;
  expect(await inShell('bash', script)).toEqual(expected);
});

test.skipIf(!isInstalled('fish')).each([
  ['pla', ['plan\tthe same as sync --dry-run']],
  ['plan --zz', []],
  ['sync --dry', ['--dry-run\tshow what would change; write nothing']],
  ['plan --format=j', ['--format=json']],
  ['promote x --to p', ['production']],
  ['history \\$', ['$(touch pwned)\tOne; $(touch pwned)']],
  ["history 'my", ['my key\tOne; $(touch pwned)']],
  ['plan --config promptsync', ['promptsync.yaml']],
  ['plan --config=promptsync', ['--config=promptsync.yaml']],
  ['init --dir m', ['my report/']],
])('fish completes: promptsync %s', async (line, expected) => {
  const words = `promptsync ${line}`.replaceAll(/['\\]/g, '\\$&');
  expect(await inShell('fish', `promptsync completion fish | source; complete -C '${words}'`)).toEqual(expected);
});
