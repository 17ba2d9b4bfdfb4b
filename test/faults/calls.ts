import type { PromptType } from '../../src/domain/chat.ts';
import type { Digest } from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { FrontAnswer, FrontRequest } from '../support/front.ts';
import type { Fault } from './faults.ts';

/** The prompt whose calls fail, and another prompt in the same repository. */
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

/** A request in the words of the tables. */
export type Asked = { readonly promptId: string; readonly call: Call };

/** The text that a version stands for, and its metadata, including the key `promptsync`. */
export type Draft = { readonly text: string; readonly metadata: JsonObject };

/** A version that a double holds. */
export type KeptVersion = Draft & {
  readonly promptId: string;
  /** The id in reports. */
  readonly id: string;
  /** The digest of the text or the messages. */
  readonly digest: Digest;
  /** Whether promptsync created it, as far as the service shows. */
  readonly own: boolean;
};

/** A service double behind a socket, with functions that its public interface does not have. */
export type Kept = {
  readonly baseUrl: string;
  /** All versions of all prompts in the order of creation. */
  readonly versions: () => readonly KeptVersion[];
  readonly active: (promptId: string, environment: string) => KeptVersion | null;
  /** `null` if prompts of the service have no fields. */
  readonly fields: (promptId: string) => Fields | null;
  /** Adds a foreign version of the main prompt that stands for a text, and activates it in `environment`. */
  readonly add: (text: string, environment?: string) => void;
  /** Adds an environment to a second version of the main prompt, for services in which this is possible. */
  readonly leave?: (version: number, environment: string) => void;
  /** The number of harmful writes of a prompt that began during another write of the same prompt. */
  readonly overlaps: () => number;
  /** Returns a function that opens another double with the current state of this one. */
  readonly copy: () => () => Promise<Kept>;
  readonly close: () => Promise<void>;
};

export type Fields = { readonly key: string; readonly name: string; readonly description: string | null };

/** Everything that faults, cells and laws need to know about a service. */
export type Service = {
  readonly name: string;
  /** The settings of the service in promptsync.yaml. */
  readonly settings: string;
  readonly environment: (baseUrl: string) => Readonly<Record<string, string>>;
  /** The secrets that no output may contain. */
  readonly secrets: readonly string[];
  readonly hasFields: boolean;
  /** The type of all prompts. A chat prompt has the messages that the text in the tables stands for. */
  readonly promptType: PromptType;
  readonly asked: (request: FrontRequest) => Asked;
  /** The version that a create request contains. */
  readonly draftOf: (request: FrontRequest) => Draft;
  /** The id of the version in the answer to a create request. */
  readonly madeIn: (answer: FrontAnswer) => string;
  /** The paths of all reads of the main prompt. */
  readonly reads: readonly string[];
  /** Makes the answer of a successful write without writing. Other fields show the current state. */
  readonly pretended: (request: FrontRequest, peek: (path: string) => Promise<FrontAnswer>) => Promise<string>;
  /** Faults that only this service has. */
  readonly faults: readonly Fault[];
  /** The sentences under "Known limits" in the contract that apply to this service. */
  readonly limits: readonly string[];
  readonly open: () => Promise<Kept>;
};

export function isWriteTo(service: Service, request: FrontRequest, promptId: string): boolean {
  return request.method !== 'GET' && service.asked(request).promptId === promptId;
}
