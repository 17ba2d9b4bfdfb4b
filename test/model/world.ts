import type { ProviderName } from '../../src/providers/provider-list.ts';
import type { FieldName } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Provider } from '../../src/providers/provider-interface.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import type { OutsideVersion } from '../doubles/in-memory-service.ts';
import { findWrittenText } from '../doubles/langfuse-messages.ts';
import { PROMPTS, typeOf, type OwnCommand, type PromptIndex, type Setup } from './commands.ts';
import { type Draft, firstDraft, head, newHistory, type History, type Ids } from './history.ts';
import type { Calls } from './port.ts';
import { openLog, type ServiceLog } from './service-log.ts';
import type { Statistics } from './situations.ts';

/** The model of a service: its state, outside changes, and what promptsync can know about it. */
export type ServiceModel = {
  /** In order of creation. */
  readonly versions: (promptId: string) => readonly LedgerVersion[];
  /** Returns a version by its id, including deleted versions. */
  readonly version: (promptId: string, id: string) => LedgerVersion | undefined;
  readonly active: (promptId: string, environment: string) => LedgerVersion | null;
  /** Returns `null` if prompts of the service have no fields. */
  readonly fields: (promptId: string) => Readonly<Record<FieldName, string>> | null;
  /** Adds a version that stands for a text. Returns its id. */
  readonly addVersion: (promptId: string, version: OutsideVersion) => string;
  readonly activate: (promptId: string, environment: string, versionId: string) => void;
  /** Makes an outside change that is possible only in this service. */
  readonly act: (promptId: string, command: OwnCommand) => void;
  /** Returns the time in seconds, and lets time pass. A service without times returns 0. */
  readonly readClock: () => number;
  /** Returns when each version was last changed, by version id. Empty if the service does not show it. */
  readonly readTimes: (promptId: string) => ReadonlyMap<string, number>;
  /** Opens a provider for one run of promptsync. */
  readonly connect: (world: World, calls: Calls) => Provider;
  readonly pinsIds: boolean;
  readonly hasChatPrompts: boolean;
  /** Whether the create call can also activate the new version. */
  readonly movesInCreates: boolean;
  /** Whether promptsync uses any version with the text, foreign or not, for a file without metadata. */
  readonly takesAny: boolean;
  /** Throws a `LawBroken` for a forbidden activation in an environment of promptsync. Returns false for other environments. */
  readonly checkOwnSet: (world: World, promptId: string, environment: string, version: LedgerVersion) => boolean;
  /** Throws a `LawBroken` if a run violated a requirement of this service. */
  readonly checkRun: () => void;
  /**
   * Whether promptsync will find the text of this version again. With `more`, also after that many further versions and
   * any activation.
   */
  readonly isKept: (promptId: string, versionId: string, more?: number) => boolean;
  /** Whether promptsync finds a version by its number or id, independent of the active versions. */
  readonly isFindable: (promptId: string, versionId: string) => boolean;
  /** Whether promptsync may not know an inactive version by its number. */
  readonly mayBeUnknown: (world: World, promptId: string, version: LedgerVersion) => boolean;
  /** Whether promptsync finds the active versions of a prompt again after any outside activation. */
  readonly isRemembered: (world: World, file: PromptFile) => boolean;
  /** Whether promptsync recognizes a version as a version of this text. */
  readonly isRecognised: (world: World, version: LedgerVersion, text: string) => boolean;
  /**
   * Returns the known limit because of which promptsync may not find a recognizable version, or `null` if it must find
   * the version.
   */
  readonly forgotten: (world: World, promptId: string, id: string) => string | null;
};

/** Git, the service, and additional knowledge of the model about both. */
export type World = {
  readonly setup: Setup;
  /** The ids of all prompts. */
  readonly prompts: readonly string[];
  readonly history: History;
  readonly service: ServiceModel;
  /** The text that promptsync sent for each version that it created, by version id. */
  readonly madeByTool: Map<string, string>;
  /** What happened to each prompt in the service, by prompt id. */
  readonly logs: ReadonlyMap<string, ServiceLog>;
  readonly statistics: Statistics;
  /** The calls since the last command, for the message of a broken law. */
  lines: string[];
};

/** How the model opens the service of each provider. */
export type Opens = Readonly<Record<ProviderName, (setup: Setup, prompts: readonly string[]) => ServiceModel>>;

export function newWorld(setup: Setup, opens: Opens, statistics: Statistics): World {
  const prompts = PROMPTS.slice(0, setup.prompts);
  const service = opens[setup.provider](setup, prompts);
  const drafts = prompts.map((id) => [id, firstDraft(id, typeOf(setup, id), adopt(service, id, setup))] as const);
  const history = newHistory(new Map(drafts), service.readClock);
  return {
    setup,
    prompts,
    history,
    service,
    madeByTool: new Map(),
    logs: new Map(prompts.map((id) => [id, openLog(service, id, head(history).index)])),
    statistics,
    lines: [],
  };
}

/** Adds the versions that a prompt has before its import. Returns the draft that an import writes. */
function adopt(service: ServiceModel, id: string, { adopted, draft }: Setup): Partial<Draft> {
  const ids = adopted.map((version) => service.addVersion(id, version));
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return {};
  service.activate(id, 'production', first);
  service.activate(id, 'staging', last);
  if (draft !== null) service.addVersion(id, { text: draft });
  const { content } = service.active(id, 'staging')!;
  const managed = Object.keys(content.metadata).length === 0 ? null : content.metadata;
  const text = findWrittenText(content);
  return { text, metadata: managed, pins: { staging: 'latest', production: service.pinsIds ? `version:${first}` : 1 } };
}

export function promptAt({ prompts }: World, index: PromptIndex): string {
  return prompts[index % prompts.length]!;
}

export function idsOf({ service, prompts, setup }: World, promptId: string): Ids {
  const right = typeOf(setup, promptId);
  const wrong = service.hasChatPrompts && right === 'text' ? 'chat' : 'text';
  const others = prompts.filter((id) => id !== promptId).flatMap(service.versions);
  return { types: { right, wrong }, own: service.versions(promptId), others, pinsIds: service.pinsIds };
}

/** Returns the text that a service stores for a sent text. */
export function storedText({ service }: Pick<Setup, 'service'>, text: string): string {
  return service === 'tidies' ? text.trim() : text;
}
