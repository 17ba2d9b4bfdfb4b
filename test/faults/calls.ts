import type { JsonObject } from '../../src/domain/json.ts';
import { CreateVersionShape, paths, SetActiveShape } from '../../src/service/wire.ts';
import type { FrontRequest } from '../support/front.ts';

/** The prompt that faults are done to, and the one beside it. */
export const MAIN = 'prm_main';
export const OTHER = 'prm_other';

/** Every way to read the main prompt. */
export const READS: readonly string[] = ['', 'staging', 'production', 'promptsync', 'promptsync-look'].map((name) =>
  name === '' ? paths.prompt(MAIN) : `${paths.prompt(MAIN)}?environment=${name}`,
);

export const KINDS = ['read', 'create', 'update', 'set'] as const;
export type Kind = (typeof KINDS)[number];

/** One call of the interface, such as `read staging`, `create`, `update` or `set promptsync-look`. */
export type Call = `${Kind}${string}`;

/** What a request is in the words of the tables; null where it is about another prompt than the main one. */
export function callOf(request: FrontRequest): Call | null {
  return promptOf(request) === MAIN ? nameOf(request) : null;
}

export function kindOf(call: Call): Kind {
  const kind = KINDS.find((one) => call === one || call.startsWith(`${one} `));
  if (kind === undefined) throw new Error(`${call} is no call`);
  return kind;
}

export function promptOf({ path }: FrontRequest): string {
  return decodeURIComponent(/\/prompts\/([^/?]+)/.exec(path)?.[1] ?? '');
}

export function isWriteTo(request: FrontRequest, promptId: string): boolean {
  return request.method !== 'GET' && promptOf(request) === promptId;
}

/** The content and the metadata of a version that is to be made, the tool's own key included. */
export function draftOf({ body }: FrontRequest): { readonly content: string; readonly metadata: JsonObject } {
  const { content, metadata_: metadata = {} } = CreateVersionShape.parse(body);
  return { content, metadata };
}

export function nameOf({ method, path, body }: FrontRequest): Call {
  if (method === 'GET') {
    const environment = new URLSearchParams(path.split('?')[1] ?? '').get('environment');
    return environment === null ? 'read' : `read ${environment}`;
  }
  if (method === 'PATCH') return 'update';
  if (path.endsWith('/versions')) return 'create';
  return `set ${SetActiveShape.parse(body).environment}`;
}
