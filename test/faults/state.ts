import { promptText, type PromptParts } from '../support/prompts.ts';
import { MAIN, OTHER, type Call } from './calls.ts';

/** One commit of the repository: the files of the prompts that it writes anew. */
export type Commit = {
  readonly main?: PromptParts;
  readonly other?: PromptParts;
  readonly tag?: string;
  /** No sync follows this commit. */
  readonly unsynced?: true;
  /** Its sync was cut off right after it had made a version. */
  readonly cutOff?: true;
  /** Texts of versions that somebody else makes after the sync of this commit. */
  readonly drafts?: readonly string[];
};

/** What stands where a run begins, and what it is to bring about. */
export type State = {
  readonly name: string;
  /** Settings of promptsync.yaml. */
  readonly settings?: string;
  /** All but the last one were synced before. */
  readonly commits: readonly Commit[];
  /** The text that each environment of the main prompt serves in the end. */
  readonly serves: Readonly<Record<string, string>>;
  /** The text that staging serves of the prompt beside it. */
  readonly otherServes?: string;
  /** The name and the description that it has in the end, where they are not those that it began with. */
  readonly fields?: { readonly name: string; readonly description?: string };
  /** The calls about the main prompt of a run without further trouble, in order. */
  readonly calls: readonly Call[];
  /** The answer to its first create-version is lost in every run, once the service has made the version. */
  readonly loses?: true;
};

/** What a prompt is to serve in an environment. */
export type Wanted = {
  readonly promptId: string;
  readonly environment: string;
  readonly text: string;
  readonly metadata: object;
};

export function wantedOf({ commits, serves, otherServes }: State): readonly Wanted[] {
  const metadata = commits.at(-1)?.main?.metadata ?? {};
  const main = Object.entries(serves).map(([environment, text]) => ({ promptId: MAIN, environment, text, metadata }));
  if (otherServes === undefined) return main;
  return [...main, { promptId: OTHER, environment: 'staging', text: otherServes, metadata: {} }];
}

/** The files that a commit writes. */
export function filesOf({ main, other }: Commit): Readonly<Record<string, string>> {
  return {
    ...(main === undefined ? {} : { 'prompts/main.md': promptText('main', main) }),
    ...(other === undefined ? {} : { 'prompts/other.md': promptText('other', other) }),
  };
}
