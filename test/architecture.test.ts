import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOMS, SHARED_ROOMS } from '../scripts/rooms.ts';
import { NAMED_PROVIDERS } from '../src/providers/provider-list.ts';

const source = resolve(import.meta.dirname, '../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

describe('the table of rooms', () => {
  test('every source file belongs to a module defined in scripts/rooms.ts', () => {
    expect(files.map(findRoom).filter((room) => !(room in ROOMS))).toEqual([]);
  });

  test.each(Object.keys(ROOMS))('%s imports only what scripts/rooms.ts allows', (room) => {
    const forbidden = files
      .filter((file) => findRoom(file) === room)
      .flatMap((file) => listImports(file).map((name) => ({ file, name })))
      .filter(({ name }) => findRoom(name) !== room && !mayImport(room, name));
    expect(forbidden).toEqual([]);
  });

  test('each room imports only rooms above it in scripts/rooms.ts, so no imports are circular', () => {
    const order = Object.keys(ROOMS);
    const upward = files.flatMap((file) => {
      const room = findRoom(file);
      const imported = listImports(file).map(findRoom);
      return imported
        .filter((other) => order.indexOf(other) > order.indexOf(room))
        .map((other) => `${file} > ${other}`);
    });
    expect(upward).toEqual([]);
  });

  test('only the entry points use the process object, the console, the system clock or random numbers', () => {
    const entries = ['cli.ts', 'action.ts', 'cli/node-process.ts'];
    const impure = files.filter((file) => !entries.includes(file) && IMPURE.test(withoutComments(read(file))));
    expect(impure).toEqual([]);
  });

  test('only digest.ts, run-git.ts and find-owner-problem.ts import node:process', () => {
    const importing = files.filter((file) => listImports(file).includes('node:process'));
    expect(importing.toSorted()).toEqual(['domain/digest.ts', 'git/run-git.ts', 'workspace/find-owner-problem.ts']);
  });

  test.each(Object.entries(NAMED_PROVIDERS))(
    'the provider %s is mentioned only in its folder, the provider list and the problem catalog',
    (folder, { title }) => {
      const names = [folder, title].map((name) => name.toLowerCase());
      const others = files.filter(
        (file) => !file.startsWith(`providers/${folder}/`) && !MAY_NAME_PROVIDERS.includes(file),
      );
      const naming = others.filter((file) => names.some((name) => read(file).toLowerCase().includes(name)));
      expect(naming).toEqual([]);
    },
  );

  test('only the public index.ts re-exports other files', () => {
    const barrels = files.filter((file) => file !== 'index.ts' && /^export (\*|\{[^}]*\}) from/m.test(read(file)));
    expect(barrels).toEqual([]);
  });
});

/** The lists of providers, and the catalog that `ProblemCode` is made of: it includes the problems of every provider. */
const MAY_NAME_PROVIDERS = [
  'providers/provider-list.ts',
  'conformance/check-langfuse.ts',
  'conformance/checks-by-provider.ts',
  'problem.ts',
];

const IMPURE = /\bprocess\.|\bconsole\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b/;

function read(file: string): string {
  return readFileSync(join(source, file), 'utf8');
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

function listImports(file: string): readonly string[] {
  const names = [...read(file).matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
  return names.map((name) => (name.startsWith('.') ? relative(source, resolve(source, dirname(file), name)) : name));
}

/** Returns the room of a file or an imported name: the longest name in the table that its path begins with. */
function findRoom(name: string): string {
  const rooms = Object.keys(ROOMS).filter((room) => name === room || name.startsWith(`${room}/`));
  return rooms.toSorted((one, other) => other.length - one.length)[0] ?? name;
}

function mayImport(room: string, name: string): boolean {
  const { rooms = [], packages = [] } = ROOMS[room] ?? {};
  const isGround = room === 'problems' || SHARED_ROOMS.some((shared) => shared === room);
  const allowed = [...rooms, ...packages, ...(isGround ? [] : SHARED_ROOMS)];
  return allowed.some((one) => {
    return one === '*' || name === one || name.startsWith(`${one}/`) || (one.endsWith(':') && name.startsWith(one));
  });
}
