import type { JsonObject } from '../../src/domain/json.ts';
import { MAIN, OTHER, type Call, type Service } from './calls.ts';
import { integration } from './integration.ts';
import { makeBody } from '../doubles/langfuse-messages.ts';
import { langfuse, langfuseChat } from './langfuse.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';

/** One commit of the repository with the prompts whose files it writes. */
export type Commit = {
  readonly main?: PromptParts;
  readonly other?: PromptParts;
  readonly tag?: string;
  /** No sync follows this commit. */
  readonly unsynced?: true;
  /** Its sync was cut off right after it created a version. */
  readonly cutOff?: true;
  /** Texts of foreign versions that appear after the sync of this commit. */
  readonly drafts?: readonly string[];
  /** A second version on which somebody leaves an environment after the sync of this commit. */
  readonly left?: readonly [version: number, environment: string];
};

/** The initial situation of a run and its expected result. */
export type State = {
  readonly service: Service;
  readonly name: string;
  /** Settings of promptsync.yaml. */
  readonly settings?: string;
  /** Foreign versions from before the first commit and their environments. The first sync must not change these. */
  readonly adopted?: readonly { readonly text: string; readonly in?: string }[];
  /** The commits. All except the last one were synced before. */
  readonly commits: readonly Commit[];
  /** The final text in each environment of the main prompt. */
  readonly serves: Readonly<Record<string, string>>;
  /** The final text of the other prompt in staging. */
  readonly otherServes?: string;
  /** The final name and description of the main prompt, if a commit changes them. */
  readonly fields?: { readonly name: string; readonly description?: string };
  /** The calls for the main prompt in a run without a fault, in order. */
  readonly calls: readonly Call[];
  /** Whether the answer to the first create-version is lost in every run, after the service created the version. */
  readonly loses?: true;
};

/** The content that a prompt must serve in an environment. */
export type Wanted = {
  readonly promptId: string;
  readonly environment: string;
  readonly text: string;
  readonly metadata: JsonObject;
};

export function wantedOf({ commits, serves, otherServes }: State): readonly Wanted[] {
  const metadata = { ...commits.at(-1)?.main?.metadata };
  const main = Object.entries(serves).map(([environment, text]): Wanted => {
    return { promptId: MAIN, environment, text, metadata };
  });
  if (otherServes === undefined) return main;
  return [...main, { promptId: OTHER, environment: 'staging', text: otherServes, metadata: {} }];
}

/** Returns the id of an adopted version of the four-call service by its index. */
function versionId(at: number): string {
  return `ver_${at + 1}`;
}

/** Returns the files that a commit writes. */
export function filesOf({ hasFields, promptType }: Service, commit: Commit): Readonly<Record<string, string>> {
  const files = (['main', 'other'] as const).flatMap((id) => {
    const fields = hasFields ? {} : { key: `prm_${id}`, name: `prm_${id}` };
    const type = promptType === 'chat' ? { type: promptType } : {};
    const parts = commit[id];
    if (parts === undefined) return [];
    const text = makeBody(promptType, parts.text ?? '');
    return [[`prompts/${id}.md`, promptText(id, { ...parts, ...fields, ...type, text })]];
  });
  return Object.fromEntries(files);
}

/** Returns the reads of two observations: one for the plan, and one right before the first write. */
function twice(...environments: readonly string[]): readonly Call[] {
  const observed = environments.map((environment): Call => `read ${environment}`);
  return [...observed, ...observed];
}

/**
 * Returns the reads of two observations of Langfuse. The second one uses the texts of the first one again that were read
 * by number.
 */
function readOnce(...selectors: readonly string[]): readonly Call[] {
  const byNumber = selectors.filter((selector) => /^v[0-9]+$/.test(selector));
  const others = selectors.filter((selector) => !byNumber.includes(selector));
  return [...others, ...byNumber, ...others].map((selector): Call => `read ${selector}`);
}

/** Returns the calls that set environments one after the other and read each of them back. */
function activated(...environments: readonly string[]): readonly Call[] {
  return environments.flatMap((environment): readonly Call[] => [`set ${environment}`, `read ${environment}`]);
}

/** The calls that create a version and activate it in the tracking environment. */
const MADE: readonly Call[] = ['create', ...activated('promptsync')];

/** Returns the calls that create a version in Langfuse. The create call moves the labels, and each one is read back. */
function created(...labels: readonly string[]): readonly Call[] {
  return ['create', ...labels.map((label): Call => `read ${label}`)];
}

const staging = { staging: 'latest' };
const both = { staging: 'latest', production: 'latest' };

const one: PromptParts = { pins: staging, text: 'One for {{name}}.' };
const two: PromptParts = { ...one, text: 'Two for {{name}}.' };
const three: PromptParts = { ...one, text: 'Three for {{name}}.' };

const ADOPTED = {
  adopted: [{ text: 'One for {{name}}.', in: 'staging' }],
  commits: [{ main: one }],
  serves: { staging: 'One for {{name}}.' },
};

/**
 * All states. `langfuse` contains the calls to Langfuse; without it, the state does not exist there. The calls for a chat
 * prompt are the calls for a text prompt.
 */
const ALL: readonly (Omit<State, 'service'> & { readonly langfuse?: readonly Call[] })[] = [
  {
    name: 'the first sync',
    commits: [{ main: one }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...MADE, ...activated('staging')],
    langfuse: [...twice('staging', 'list'), ...created('staging')],
  },
  {
    name: 'an edit that staging follows',
    commits: [{ main: one }, { main: two }],
    serves: { staging: 'Two for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...MADE, ...activated('staging')],
    langfuse: [...twice('staging', 'list'), ...created('staging')],
  },
  {
    name: 'an edit of a file without a latest pin',
    commits: [{ main: one }, { main: { ...two, pins: { staging: 1 } } }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...MADE],
    langfuse: [...twice('staging', 'list'), ...created()],
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
    calls: [...twice('staging', 'production', 'promptsync'), ...activated('promptsync-look', 'production')],
    langfuse: [...readOnce('staging', 'production', 'list', 'v2'), ...activated('production')],
  },
  {
    name: 'an edit for staging and production',
    settings: 'environments: { staging: {}, production: {} }\n',
    commits: [{ main: { ...one, pins: both } }, { main: { ...two, pins: both } }],
    serves: { staging: 'Two for {{name}}.', production: 'Two for {{name}}.' },
    calls: [...twice('staging', 'production', 'promptsync'), ...MADE, ...activated('staging', 'production')],
    langfuse: [...twice('staging', 'production', 'list'), ...created('staging', 'production')],
  },
  {
    name: 'a git: pin beside own content',
    commits: [
      { main: one },
      { main: two, tag: 'v2', unsynced: true },
      { main: { ...three, pins: { ...staging, production: 'git:v2' } } },
    ],
    serves: { staging: 'Three for {{name}}.', production: 'Two for {{name}}.' },
    calls: [...twice('staging', 'production', 'promptsync'), ...MADE, ...MADE, ...activated('staging', 'production')],
    langfuse: [
      ...twice('staging', 'production', 'list'),
      ...created(),
      ...created('staging'),
      ...activated('production'),
    ],
  },
  {
    name: 'other metadata of the same text',
    commits: [{ main: { ...one, metadata: { model: 'a' } } }, { main: { ...one, metadata: { model: 'b' } } }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...MADE, ...activated('staging')],
    langfuse: [...twice('staging', 'list'), ...created('staging')],
  },
  {
    name: 'fields alone',
    fields: { name: 'After', description: 'After.' },
    commits: [
      { main: { ...one, name: 'Before', description: 'Before.' } },
      { main: { ...one, name: 'After', description: 'After.' } },
    ],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), 'update'],
  },
  {
    name: 'a rollback',
    commits: [{ main: { ...one, pins: both } }, { main: { ...two, pins: both } }, { main: { ...one, pins: both } }],
    serves: { staging: 'One for {{name}}.', production: 'One for {{name}}.' },
    calls: [...twice('staging', 'production', 'promptsync'), ...activated('promptsync-look', 'staging', 'production')],
    langfuse: [
      ...readOnce('staging', 'production', 'list', 'v1'),
      'set staging production',
      'read staging',
      'read production',
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
    calls: [...twice('staging', 'promptsync'), ...MADE, ...activated('staging')],
    langfuse: [...twice('staging', 'list'), ...created('staging')],
  },
  {
    name: "somebody else's draft that nobody has read",
    commits: [{ main: one, drafts: ['Theirs.'] }, { main: two }],
    serves: { staging: 'Two for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...activated('promptsync-look'), ...MADE, ...activated('staging')],
    langfuse: [...readOnce('staging', 'list', 'v2'), ...created('staging')],
  },
  {
    name: 'a version that a run has left behind',
    commits: [{ main: one }, { main: two, cutOff: true }, {}],
    serves: { staging: 'Two for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...activated('promptsync-look', 'promptsync', 'staging')],
    langfuse: ['read staging'],
  },
  {
    name: 'a version left behind that no pin follows',
    commits: [{ main: one }, { main: { ...two, pins: { staging: 1 } }, cutOff: true }, {}],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), ...activated('promptsync-look', 'promptsync')],
    langfuse: ['read staging', 'read list', 'read v2'],
  },
  {
    name: 'an edit whose answer is lost',
    commits: [{ main: one }, { main: two }],
    serves: { staging: 'Two for {{name}}.' },
    calls: [
      ...twice('staging', 'promptsync'),
      'create',
      'read',
      ...activated('promptsync-look', 'promptsync', 'staging'),
    ],
    loses: true,
    langfuse: [...twice('staging', 'list'), 'create', 'read list', 'read v2', 'read staging'],
  },
  {
    name: 'an edit that no pin follows, whose answer is lost',
    commits: [{ main: one }, { main: { ...two, pins: { staging: 1 } } }],
    serves: { staging: 'One for {{name}}.' },
    calls: [...twice('staging', 'promptsync'), 'create', 'read', ...activated('promptsync-look', 'promptsync')],
    loses: true,
    langfuse: [...twice('staging', 'list'), 'create', 'read list', 'read v2'],
  },
  {
    name: 'an adopted prompt',
    ...ADOPTED,
    calls: [...twice('staging', 'promptsync'), ...MADE],
    langfuse: ['read staging'],
  },
  {
    name: 'an adopted prompt with different texts',
    adopted: [
      { text: 'One for {{name}}.', in: 'production' },
      { text: 'Two for {{name}}.', in: 'staging' },
    ],
    commits: [{ main: { ...two, pins: { ...staging, production: `version:${versionId(0)}` } } }],
    serves: { staging: 'Two for {{name}}.', production: 'One for {{name}}.' },
    calls: [...twice('staging', 'production', 'promptsync'), ...MADE],
  },
  {
    name: 'an adopted prompt with a draft of its text',
    ...ADOPTED,
    adopted: [...ADOPTED.adopted, { text: 'One for {{name}}.' }],
    calls: [...twice('staging', 'promptsync'), ...activated('promptsync-look'), ...MADE],
  },
  {
    name: 'an adopted prompt, the answer of whose baseline is lost',
    ...ADOPTED,
    calls: [...twice('staging', 'promptsync'), 'create', 'read', ...activated('promptsync-look', 'promptsync')],
    loses: true,
  },
  {
    name: 'a version left behind of several',
    commits: [
      { main: one },
      { main: two, tag: 'v2', unsynced: true },
      { main: { ...three, pins: { ...staging, production: 'git:v2' } }, cutOff: true },
      {},
    ],
    serves: { staging: 'Three for {{name}}.', production: 'Two for {{name}}.' },
    calls: [],
    langfuse: [...readOnce('staging', 'production', 'list', 'v2'), ...created('staging'), ...activated('production')],
  },
  {
    name: 'a label left on two versions',
    commits: [{ main: one }, { main: two, left: [1, 'staging'] }, {}],
    serves: { staging: 'Two for {{name}}.' },
    calls: [],
    langfuse: [...readOnce('staging', 'list', 'v2'), ...activated('staging')],
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
      ...MADE,
      'update',
      ...activated('staging', 'promptsync-look', 'production'),
    ],
    langfuse: [...readOnce('staging', 'production', 'list', 'v1'), ...created('staging'), ...activated('production')],
  },
];

export const STATES: readonly State[] = [
  ...ALL.flatMap((state) => (state.calls.length === 0 ? [] : [{ ...state, service: integration }])),
  ...[langfuse, langfuseChat].flatMap((service) =>
    ALL.flatMap((state) => (state.langfuse === undefined ? [] : [{ ...state, service, calls: state.langfuse }])),
  ),
];
