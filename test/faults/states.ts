import type { PromptParts } from '../support/prompts.ts';
import type { Call } from './calls.ts';
import type { State } from './state.ts';

/** A prompt is observed, and once more right before its first write. */
function twice(...environments: readonly string[]): readonly Call[] {
  const observed = environments.map((environment): Call => `read ${environment}`);
  return [...observed, ...observed];
}

/** An environment is set, and read back. */
function activated(environment: string): readonly Call[] {
  return [`set ${environment}`, `read ${environment}`];
}

const staging = { staging: 'latest' };
const both = { staging: 'latest', production: 'latest' };

const one: PromptParts = { pins: staging, text: 'One for {{name}}.' };
const two: PromptParts = { ...one, text: 'Two for {{name}}.' };
const three: PromptParts = { ...one, text: 'Three for {{name}}.' };

export const STATES: readonly State[] = [
  {
    name: 'the first sync',
    commits: [{ main: one }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), 'create', ...activated('promptsync'), ...activated('staging')],
  },
  {
    name: 'an edit that staging follows',
    commits: [{ main: one }, { main: two }],
    serves: { staging: 'Two for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), 'create', ...activated('promptsync'), ...activated('staging')],
  },
  {
    name: 'an edit of a file without a latest pin',
    commits: [{ main: one }, { main: { ...two, pins: { staging: 1 } } }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), 'create', ...activated('promptsync')],
  },
  {
    name: 'a number that is active nowhere',
    commits: [
      { main: one },
      { main: two },
      { main: three },
      { main: { ...three, pins: { ...staging, production: 2 } } },
    ],
    serves: { staging: 'Three for {{name}}.', production: 'Two for {{name}}.' },
    calls: [...twice('staging', 'production'), ...activated('promptsync-look'), ...activated('production')],
  },
  {
    name: 'an edit for staging and production',
    settings: 'environments: { staging: {}, production: {} }\n',
    commits: [{ main: { ...one, pins: both } }, { main: { ...two, pins: both } }],
    serves: { staging: 'Two for {{name}}.', production: 'Two for {{name}}.' },
    calls: [
      ...twice('staging', 'production', 'promptsync'),
      'create',
      ...activated('promptsync'),
      ...activated('staging'),
      ...activated('production'),
    ],
  },
  {
    name: 'a git: pin beside own content',
    commits: [
      { main: one },
      { main: two, tag: 'v2', unsynced: true },
      { main: { ...three, pins: { ...staging, production: 'git:v2' } } },
    ],
    serves: { staging: 'Three for {{name}}.', production: 'Two for {{name}}.' },
    calls: [
      ...twice('staging', 'production', 'promptsync'),
      'create',
      ...activated('promptsync'),
      'create',
      ...activated('promptsync'),
      ...activated('staging'),
      ...activated('production'),
    ],
  },
  {
    name: 'other metadata of the same text',
    commits: [{ main: { ...one, metadata: { model: 'a' } } }, { main: { ...one, metadata: { model: 'b' } } }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), 'create', ...activated('promptsync'), ...activated('staging')],
  },
  {
    name: 'fields alone',
    fields: { name: 'After', description: 'After.' },
    commits: [
      { main: { ...one, name: 'Before', description: 'Before.' } },
      { main: { ...one, name: 'After', description: 'After.' } },
    ],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging'), 'update'],
  },
  {
    name: 'a rollback',
    commits: [{ main: { ...one, pins: both } }, { main: { ...two, pins: both } }, { main: { ...one, pins: both } }],
    serves: { staging: 'One for {{name}}.', production: 'One for {{name}}.' },
    calls: [
      ...twice('staging', 'production'),
      ...activated('promptsync-look'),
      ...activated('staging'),
      ...activated('production'),
    ],
  },
  {
    name: 'another prompt beside it',
    commits: [
      { main: one, other: { ...one, text: 'First of the other.' } },
      { main: two, other: { ...one, text: 'Second of the other.' } },
    ],
    serves: { staging: 'Two for {{name}}.' },
    otherServes: 'Second of the other.',
    calls: [...twice('staging', 'promptsync'), 'create', ...activated('promptsync'), ...activated('staging')],
  },
  {
    name: "somebody else's draft that nobody has read",
    commits: [{ main: one, drafts: ['Theirs.'] }, { main: two }],
    serves: { staging: 'Two for {{name}}.' },
    calls: [
      ...twice('staging', 'promptsync'),
      ...activated('promptsync-look'),
      'create',
      ...activated('promptsync'),
      ...activated('staging'),
    ],
  },
  {
    name: 'a version that a run has left behind',
    commits: [{ main: one }, { main: two, cutOff: true }, {}],
    serves: { staging: 'Two for {{name}}.' },
    calls: [
      ...twice('staging', 'promptsync'),
      ...activated('promptsync-look'),
      ...activated('promptsync'),
      ...activated('staging'),
    ],
  },
  {
    name: 'a version left behind that no pin follows',
    commits: [{ main: one }, { main: { ...two, pins: { staging: 1 } }, cutOff: true }, {}],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...activated('promptsync-look'), ...activated('promptsync')],
  },
  {
    name: 'an edit whose answer is lost',
    commits: [{ main: one }, { main: two }],
    serves: { staging: 'Two for {{name}}.' },
    calls: [
      ...twice('staging', 'promptsync'),
      'create',
      'read',
      ...activated('promptsync-look'),
      ...activated('promptsync'),
      ...activated('staging'),
    ],
    loses: true,
  },
  {
    name: 'an edit that no pin follows, whose answer is lost',
    commits: [{ main: one }, { main: { ...two, pins: { staging: 1 } } }],
    serves: { staging: 'One for {{name}}.' },
    calls: [
      ...twice('staging', 'promptsync'),
      'create',
      'read',
      ...activated('promptsync-look'),
      ...activated('promptsync'),
    ],
    loses: true,
  },
  {
    name: 'all at once',
    fields: { name: 'After' },
    commits: [
      { main: { ...one, name: 'Before' } },
      { main: two },
      { main: { ...three, name: 'After', pins: { ...staging, production: 1 } } },
    ],
    serves: { staging: 'Three for {{name}}.', production: 'One for {{name}}.' },
    calls: [
      ...twice('staging', 'production', 'promptsync'),
      'create',
      ...activated('promptsync'),
      'update',
      ...activated('staging'),
      ...activated('promptsync-look'),
      ...activated('production'),
    ],
  },
];
