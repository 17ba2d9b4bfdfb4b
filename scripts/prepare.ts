/**
 * Makes dist/ as npm's `prepare` script. For `npm install --global git+…`, which pre-commit uses to install a hook, npm
 * runs this script in a clone without node_modules. The reason is that npm passes `--global` to the install in the
 * clone. In this case, the script installs the packages itself.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const npm = process.env['npm_execpath'];
if (!existsSync('node_modules/rolldown') && npm !== undefined) {
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  const env = { ...process.env, npm_config_global: 'false' };
  execFileSync(process.execPath, [npm, ...args], { env, stdio: 'inherit' });
}
await import('./build.ts');
