import type { JsonObject } from '../../src/domain/json.ts';
import type { FrontAnswer, FrontRequest } from '../support/front.ts';
import type { Fault } from './faults.ts';

/** The prompt that faults are done to, and the one beside it. */
export const MAIN = 'prm_main';
export const OTHER = 'prm_other';

export const KINDS = ['read', 'create', 'update', 'set'] as const;
export type Kind = (typeof KINDS)[number];

/** One call of a service, such as `read staging`, `read list`, `create`, `update` or `set promptsync-look`. */
export type Call = `${Kind}${string}`;

export function kindOf(call: Call): Kind {
  const kind = KINDS.find((one) => call === one || call.startsWith(`${one} `));
  if (kind === undefined) throw new Error(`${call} is no call`);
  return kind;
}

/** What a request is in the words of the tables. */
export type Asked = { readonly promptId: string; readonly call: Call };

/** The content and the metadata of a version, the tool's own key included. */
export type Draft = { readonly text: string; readonly metadata: JsonObject };

/** A version that a double holds. */
export type KeptVersion = Draft & {
  readonly promptId: string;
  /** As reports call it. */
  readonly id: string;
  /** Whether the tool made it, as far as the service tells. */
  readonly own: boolean;
};

/** A double over a socket, and what its interface does not list. */
export type Kept = {
  readonly baseUrl: string;
  /** All versions of all prompts in the order in which they were made. */
  readonly versions: () => readonly KeptVersion[];
  readonly active: (promptId: string, environment: string) => KeptVersion | null;
  /** Null where a prompt has none. */
  readonly fields: (promptId: string) => Fields | null;
  /** Somebody else makes a version of the main prompt, and makes it active there. */
  readonly add: (text: string, environment?: string) => void;
  /** Somebody else leaves an environment on a version of the main prompt besides, where it can be on two. */
  readonly leave?: (version: number, environment: string) => void;
  /** How many writes of a prompt began while another one was under way, where that does harm. */
  readonly overlaps: () => number;
  /** What opens another double that holds the same as this one does now. */
  readonly copy: () => () => Promise<Kept>;
  readonly close: () => Promise<void>;
};

export type Fields = { readonly key: string; readonly name: string; readonly description: string | null };

/** All that faults, cells and laws have to know of a service. */
export type Service = {
  readonly name: string;
  /** What promptsync.yaml says of it. */
  readonly settings: string;
  readonly environment: (baseUrl: string) => Readonly<Record<string, string>>;
  /** What may be seen in no output. */
  readonly secrets: readonly string[];
  readonly hasFields: boolean;
  readonly asked: (request: FrontRequest) => Asked;
  /** What a create is to make. */
  readonly draftOf: (request: FrontRequest) => Draft;
  /** The id of the version that a create was answered with. */
  readonly madeIn: (answer: FrontAnswer) => string;
  /** Every way to read the main prompt. */
  readonly reads: readonly string[];
  /** An answer as if a write had been done, which still shows what there is. */
  readonly pretended: (request: FrontRequest, peek: (path: string) => Promise<FrontAnswer>) => Promise<string>;
  /** Faults that no other service has. */
  readonly faults: readonly Fault[];
  /** The sentences of the contract's "Known limits" that are about it. */
  readonly limits: readonly string[];
  readonly open: () => Promise<Kept>;
};

export function isWriteTo(service: Service, request: FrontRequest, promptId: string): boolean {
  return request.method !== 'GET' && service.asked(request).promptId === promptId;
}
