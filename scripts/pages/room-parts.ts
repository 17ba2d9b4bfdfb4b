import { ROOMS } from '../rooms.ts';
import { code, table, type Parts } from './parts.ts';

/** Makes the part `rooms` of docs/ARCHITECTURE.md: the table that test/architecture.test.ts enforces. */
export function makeRoomParts(): Parts {
  const rows = Object.entries(ROOMS).map(([name, { purpose, rooms }]) => {
    const imports = [...new Set(rooms.map(summarizeImport))];
    return [code(name), purpose, imports.join(', ')];
  });
  return { rooms: table(['room', 'purpose', 'may import'], rows) };
}

/** Returns an import as the page shows it. For a file without a row of its own, returns `parts of` and its room. */
function summarizeImport(name: string): string {
  const [folder = '', file] = name.split('/');
  if (name === '*') return 'everything';
  return file === undefined || name in ROOMS || folder === '..' ? code(name) : `parts of ${code(folder)}`;
}
