import { childEnvironment, withCommand } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';

/** Each of these is a name by itself; the first must run in no shell. */
const KEYS = ['$(touch pwned)', '`touch pwned`', 'my key', 'team:greeting', "it's", 'support/a%sb'];

/** A workspace of prompts with these keys, and the variables of a shell in it. */
export function makeStage() {
  const prompts = KEYS.map((key, index) => [`p${index}`, { key, name: 'One; $(touch pwned)' }] as const);
  const config = 'environments: { staging: {}, production: {} }\n';
  const folder = makeWorkspace({ ...workspaceFiles(Object.fromEntries(prompts), config), 'my report/x.json': '' });
  return { cwd: folder, env: withCommand(childEnvironment({ HOME: folder })) };
}
