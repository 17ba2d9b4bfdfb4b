import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SCHEMAS } from '../../scripts/schemas.ts';
import { PROVIDERS } from '../../src/providers/provider-list.ts';
import { readPage } from './pages.ts';
import { ROOT } from './worlds.ts';

const page = readPage('docs/commands.md');

describe('docs/commands.md', () => {
  test.each([
    ['schema', '`config`, `front-matter`, `report`'],
    ['completion', '`bash`, `zsh`, `fish`'],
  ])('docs/commands.md lists the arguments of promptsync %s', (command, choices) => {
    expect(section(command)).toContain(choices);
  });

  test('docs/commands.md lists exactly the environment variables that the source code reads, except those of GitHub and GitLab runners', () => {
    const rows = /## Environment variables\n([\s\S]*)$/.exec(page)?.[1] ?? '';
    const listed = [...rows.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
    expect(listed.toSorted()).toEqual(readInSources().toSorted());
  });
});

test('every command that a hint tells the user to run includes the prompt argument that the command requires', () => {
  const text = readPage('docs/troubleshooting.md').replaceAll(/\s+/g, ' ');
  const commands = [...text.matchAll(/\brun:? `(promptsync (?:import|new|promote|rollback)\b[^`]*)`/g)];
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.flatMap(([, line = '']) => (/^promptsync \w+ (?!-)/.test(line) ? [] : line))).toEqual([]);
});

test.each(['docs/action.md', 'docs/commands.md', 'docs/configuration.md', 'docs/prompt-files.md'])(
  '%s describes every row of its generated tables',
  (name) => {
    const parts = [...readPage(name).matchAll(/^<!-- begin (\S+) -->$([\s\S]*?)^<!-- end \1 -->$/gm)];
    const rows = parts.flatMap(([, , part = '']) => part.match(/^\| .*\|$/gm) ?? []);
    expect(rows.filter((row) => /\|\s+\|$/.test(row))).toEqual([]);
  },
);

test('the report schema contains a description for every field', () => {
  const described = describedIn(SCHEMAS['schemas/report.schema.json'], '');
  const paths = new Set(described.map(({ path }) => path));
  const silent = [...paths].filter((path) => !described.some((one) => one.path === path && one.is));
  expect(paths.size).toBeGreaterThan(100);
  expect(silent).toEqual([]);
});

type Described = { readonly path: string; readonly is: boolean };

/** Returns all properties in a JSON Schema, and whether each has a description. */
function describedIn(schema: unknown, path: string): readonly Described[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if (key !== 'properties') return describedIn(value, path);
    return Object.entries(value as object).flatMap(([name, property]: [string, object]) => [
      { path: `${path}.${name}`, is: 'description' in property },
      ...describedIn(property, `${path}.${name}`),
    ]);
  });
}

function section(command: string): string {
  return new RegExp(`^## promptsync ${command}$([\\s\\S]*?)(?=^## |^<!-- end )`, 'm').exec(page)?.[1] ?? '';
}

/** The variables of GitHub and GitLab runners, which only the action and `comment` read. */
const RUNNERS = /^(GITHUB_(WORKSPACE|REPOSITORY|API_URL|EVENT_\w+)|RUNNER_TEMP|GITLAB_CI|CI_\w+)$/;

function readInSources(): readonly string[] {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const read = /environment\['([A-Z_]+)'\]|_VARIABLE = '([A-Z_]+)'|\bdefaultVariable: '([A-Z_]+)'|\{ (CI): value/g;
  const names = sources.flatMap((text) => [...text.matchAll(read)].map(([, ...found]) => found.find(Boolean) ?? ''));
  const addresses = Object.values(PROVIDERS).flatMap(({ defaultAddress }) => defaultAddress?.variables ?? []);
  return [...new Set([...names, ...addresses])].filter((name) => !RUNNERS.test(name));
}
