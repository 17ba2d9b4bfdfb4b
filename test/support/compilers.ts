import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** The exit code of a compiler, and everything that it printed. */
export type Compiled = { readonly status: number | null; readonly printed: string };

/** The result of a compiler that found no error. */
export const NO_ERRORS: Compiled = { status: 0, printed: '' };

/** Links the installed packages to a folder, so that its files can import them. */
export function linkPackages(folder: string): void {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/**
 * Compiles a TypeScript file and everything that it imports with `tsc --strict`. Writes the JavaScript files next to the
 * sources.
 */
export function compileTypeScript(folder: string, file: string, ...options: readonly string[]): Compiled {
  const target = ['--target', 'es2024', '--lib', 'es2024,dom', '--module', 'nodenext', '--types', 'node'];
  return compile(folder, process.execPath, [TSC, '--strict', ...target, '--skipLibCheck', ...options, file]);
}

/** Compiles a Python file to bytecode. */
export function compilePython(folder: string, file: string): Compiled {
  return compile(folder, 'python3', ['-m', 'py_compile', file]);
}

/** Checks the types of Python files with `mypy --strict`. */
export function checkPythonTypes(folder: string, ...files: readonly string[]): Compiled {
  return compile(folder, 'mypy', ['--strict', '--no-error-summary', ...files]);
}

function compile(folder: string, program: string, words: readonly string[]): Compiled {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: folder, encoding: 'utf8' });
  return { status, printed: stdout + stderr };
}

/** Whether Python is installed. */
export const hasPython = isInstalled('python3');
/** Whether mypy is installed. */
export const hasMypy = isInstalled('mypy');
if (!hasPython || !hasMypy) console.warn('Tests of Python bundles are skipped: python3 or mypy is not on PATH.');

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}
