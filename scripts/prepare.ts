/**
 * npm's `prepare`: makes dist/. `npm install --global git+…`, by which pre-commit installs a hook, runs it in a clone
 * without node_modules, for npm hands `--global` on to the install that is to fill it. Then that is done here.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const npm = process.env['npm_execpath'];
if (!existsSync('node_modules/rolldown') && npm !== undefined) {
  const words = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  const env = { ...process.env, npm_config_global: 'false' };
  execFileSync(process.execPath, [npm, ...words], { env, stdio: 'inherit' });
}
await import('./build.ts');
