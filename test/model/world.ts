import type { ProviderName } from '../../src/config/config.ts';
import type { FieldName } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Provider } from '../../src/domain/provider.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import type { OutsideVersion } from '../doubles/in-memory-service.ts';
import { PROMPTS, type OwnCommand, type PromptIndex, type Setup } from './commands.ts';
import { type Draft, firstDraft, newHistory, type History, type Ids } from './history.ts';
import type { Calls } from './port.ts';
import type { Statistics } from './situations.ts';

/** A service as the model needs it: what stands in it, what others do there, and what the tool can know of it. */
export type ServiceModel = {
  /** In order of creation. */
  readonly versions: (promptId: string) => readonly Version[];
  /** A version by its id, also one that is not there any more. */
  readonly version: (promptId: string, id: string) => Version | undefined;
  readonly active: (promptId: string, environment: string) => Version | null;
  /** Null where a prompt is its versions. */
  readonly fields: (promptId: string) => Promise<Readonly<Record<FieldName, string>> | null>;
  readonly addVersion: (promptId: string, version: OutsideVersion) => string;
  readonly activate: (promptId: string, environment: string, versionId: string) => void;
  /** Somebody does what can be done in this service alone. */
  readonly act: (promptId: string, command: OwnCommand) => void;
  /** The service as one run of the tool has it. */
  readonly connect: (world: World, calls: Calls) => Provider;
  readonly pinsIds: boolean;
  /** Whether the write that makes a version may make it active as well. */
  readonly movesInCreates: boolean;
  /** Whether the tool takes any version of a text, whoever made it and whatever its metadata, where a file manages none. */
  readonly takesAny: boolean;
  /** Throws a `LawBroken` where a version may not be made active in an environment of the tool's own; false for others. */
  readonly checkOwnSet: (world: World, promptId: string, environment: string, version: Version) => boolean;
  /** Throws a `LawBroken` where a run has not kept to what this service asks of its clients. */
  readonly checkRun: () => void;
  /**
   * Whether a text is found again by this version; with a number, although so many more are made and whatever becomes
   * active.
   */
  readonly isKept: (promptId: string, versionId: string, more?: number) => boolean;
  /** Whether a version is found by its number, or its id, whatever environments serve. */
  readonly isFindable: (promptId: string, versionId: string) => boolean;
  /** Whether the tool may not know the version of a number that is not served. */
  readonly mayBeUnknown: (world: World, promptId: string, version: Version) => boolean;
  /** Whether what a prompt serves is found again, whatever somebody activates next. */
  readonly isRemembered: (world: World, file: PromptFile) => boolean;
  /** Whether the tool knows what text it is a version of. */
  readonly isRecognised: (world: World, version: Version, text: string) => boolean;
  /**
   * Why the tool may have lost sight of a version that it would recognise: the known limits, in their words; null where
   * it may not.
   */
  readonly forgotten: (world: World, promptId: string, id: string) => string | null;
};

/** Git, the service, and what the model knows of both beyond what they say themselves. */
export type World = {
  readonly setup: Setup;
  /** The ids of the prompts that there are. */
  readonly prompts: readonly string[];
  readonly history: History;
  readonly service: ServiceModel;
  /** By id of each version that the tool made, whatever its metadata says: the text that was sent. */
  readonly madeByTool: Map<string, string>;
  readonly statistics: Statistics;
  /** What was called since the last command, for a broken law. */
  lines: string[];
};

/** How the model opens the service of each provider. */
export type Opens = Readonly<Record<ProviderName, (setup: Setup, prompts: readonly string[]) => ServiceModel>>;

export function newWorld(setup: Setup, opens: Opens, statistics: Statistics): World {
  const prompts = PROMPTS.slice(0, setup.prompts);
  const service = opens[setup.provider](setup, prompts);
  return {
    setup,
    prompts,
    history: newHistory(new Map(prompts.map((id) => [id, firstDraft(id, adopt(service, id, setup))]))),
    service,
    madeByTool: new Map(),
    statistics,
    lines: [],
  };
}

/** Gives a prompt the versions that it has before git knows it; what an import makes of them. */
function adopt(service: ServiceModel, id: string, { adopted, draft }: Setup): Partial<Draft> {
  const ids = adopted.map((version) => service.addVersion(id, version));
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return {};
  service.activate(id, 'production', first);
  service.activate(id, 'staging', last);
  if (draft !== null) service.addVersion(id, { text: draft });
  const { text = '', metadata = {} } = service.active(id, 'staging') ?? {};
  const managed = Object.keys(metadata).length === 0 ? null : metadata;
  return { text, metadata: managed, pins: { staging: 'latest', production: service.pinsIds ? `version:${first}` : 1 } };
}

export function promptAt({ prompts }: World, index: PromptIndex): string {
  return prompts[index % prompts.length]!;
}

export function idsOf({ service, prompts }: World, promptId: string): Ids {
  const others = prompts.filter((id) => id !== promptId).flatMap(service.versions);
  return { own: service.versions(promptId), others, pinsIds: service.pinsIds };
}

/** What a service makes of the texts that it is given. */
export function storedText({ service }: Pick<Setup, 'service'>, text: string): string {
  return service === 'tidies' ? text.trim() : text;
}
