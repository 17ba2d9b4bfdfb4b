import { action } from './cases/action.ts';
import { changedSince } from './cases/changed-since.ts';
import { growth } from './cases/growth.ts';
import { observation } from './cases/observation.ts';
import { parsing } from './cases/parsing.ts';
import { peers } from './cases/peers.ts';
import { pins } from './cases/pins.ts';
import { requests } from './cases/requests.ts';
import { startUp } from './cases/start-up.ts';
import { sync } from './cases/sync.ts';
import type { Group } from './core/case.ts';

/** All groups, in the order in which they are measured. To add a group, add a file in `cases/` and a line here. */
export const groups: readonly Group[] = [
  startUp,
  action,
  parsing,
  observation,
  sync,
  changedSince,
  pins,
  growth,
  requests,
  peers,
];
