import { ROOMS } from '../rooms.ts';
import { code, table, type Parts } from './parts.ts';

/** Makes the part `rooms` of docs/ARCHITECTURE.md: the purposes of the rooms that test/architecture.test.ts enforces. */
export function makeRoomParts(): Parts {
  const rows = Object.entries(ROOMS).map(([name, { purpose }]) => [code(name), purpose]);
  return { rooms: table(['room', 'purpose'], rows) };
}
