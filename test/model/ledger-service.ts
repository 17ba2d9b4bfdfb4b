import { makeFourCallProvider } from '../../src/providers/four-call/provider.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import type { NewServiceVersion, PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { inMemoryService, type InMemoryService } from '../doubles/in-memory-service.ts';
import { splitVersionRecord } from '../doubles/record-calls.ts';
import { LOOK, TRACKING, type Setup } from './commands.ts';
import { contentAtPath, head } from './history.ts';
import { must } from './laws.ts';
import type { Calls } from './port.ts';
import { storedText, type ServiceModel, type World } from './world.ts';

/** The service and the knowledge of the model about its ledgers. */
type Kept = {
  readonly service: InMemoryService;
  readonly drops: boolean;
  /** Ids of the versions that promptsync has activated in the tracking environment. */
  readonly tracked: Set<string>;
  /** The versions under pins other than `latest` at the creation of each version by promptsync. */
  readonly held: Map<string, readonly string[]>;
  /** Those of these versions that a tracked ledger contains. */
  readonly heldByPins: Set<string>;
};

/** Opens the model of the four-call service. */
export function openLedgerService(setup: Setup, prompts: readonly string[]): ServiceModel {
  const service = openService(setup, prompts);
  const { versions, active, addVersion, activate } = service;
  const drops = setup.service === 'drops';
  const kept: Kept = { service, drops, tracked: new Set(), held: new Map(), heldByPins: new Set() };
  const isReachable = (promptId: string, id: string) => isNamed(service, promptId, id);
  return {
    ...{ versions, active, addVersion, activate },
    ...{ pinsIds: true, hasChatPrompts: false, movesInCreates: false, takesAny: false },
    version: (promptId, id) => versions(promptId).find((version) => version.id === id),
    fields: service.fields,
    act: (promptId, command) => {
      // An in-memory call has its effect before it returns its promise.
      if (command.kind === 'their-fields') void service.updatePrompt(promptId, command.fields);
    },
    connect: (world, calls) => connect(kept, world, calls),
    readClock: () => 0,
    readTimes: () => new Map(),
    checkOwnSet: (world, promptId, environment, version) => {
      if (environment === TRACKING) checkTracking(world, promptId, version);
      return environment === TRACKING || environment === LOOK;
    },
    checkRun: () => {},
    ...{ isKept: isReachable, isFindable: isReachable },
    mayBeUnknown: (world, promptId, version) => mayBeUnknown(kept, world, promptId, version),
    isRemembered: ({ madeByTool }, { id, pins }) => {
      const served = pins.map(({ environment }) => active(id, environment));
      const own = served.some((version) => version !== null && (madeByTool.has(version.id) || version.record !== null));
      return own || active(id, TRACKING) !== null;
    },
    isRecognised: ({ madeByTool }, { id }, text) => madeByTool.get(id) === text,
    forgotten: (world, promptId, id) => forgotten(kept, world, promptId, id),
  };
}

/** Opens the service that the setup describes. */
function openService(setup: Setup, prompts: readonly string[]): InMemoryService {
  const seeds = prompts.map((id) => ({ id, key: `k/${id}`, name: 'Before', description: '' }));
  const faithful = inMemoryService(seeds);
  switch (setup.service) {
    case 'faithful':
      return faithful;
    case 'tidies':
      return {
        ...faithful,
        createVersion: (promptId, { content, ...version }) => {
          const text = storedText(setup, content.text);
          return faithful.createVersion(promptId, { ...version, content: { ...content, text } });
        },
        addVersion: (promptId, version) =>
          faithful.addVersion(promptId, { ...version, text: storedText(setup, version.text) }),
      };
    case 'drops':
      return {
        ...faithful,
        createVersion: async (promptId, { content: { text } }) => {
          faithful.addVersion(promptId, { text });
          return structuredClone(faithful.versions(promptId).at(-1)!);
        },
        addVersion: (promptId, { text }) => faithful.addVersion(promptId, { text }),
      };
  }
}

let operations = 0;

function connect(kept: Kept, world: World, calls: Calls) {
  return makeFourCallProvider({
    service: callsOf(kept, world, calls),
    newOperation: () => `op_${++operations}`,
    textAt: async (at, path) => contentAtPath(world.history, at, path),
    sleep: calls.sleep,
  });
}

function callsOf(kept: Kept, world: World, { call, watched }: Calls): PromptService {
  const { service, held } = kept;
  const shown = new Map<string, string | null>();
  return {
    readPrompt: async (promptId, environment) => {
      const read = () => {
        watched.beforeRead(promptId);
        return service.readPrompt(promptId, environment);
      };
      const prompt = await call({ kind: 'read', promptId, what: environment ?? '', effect: read, ignore: read });
      if (environment !== undefined) shown.set(`${promptId} ${environment}`, prompt.activeVersion?.id ?? null);
      return prompt;
    },
    createVersion: (promptId, version) => {
      const create = () => {
        const answer = createWatched(service, watched, promptId, version);
        held.set(service.versions(promptId).at(-1)!.id, listPinnedVersions(world, promptId, shown));
        return answer;
      };
      const what = JSON.stringify(version.content.text);
      return call({ kind: 'create', promptId, what, effect: create, ignore: create });
    },
    updatePrompt: (promptId, fields) =>
      call({
        kind: 'update',
        promptId,
        what: JSON.stringify(fields),
        effect: () => {
          watched.updated(promptId, fields);
          return service.updatePrompt(promptId, fields);
        },
        ignore: async () => {
          const prompt = await service.readPrompt(promptId);
          watched.ignoredUpdate(promptId, fields, prompt);
          return prompt;
        },
      }),
    setActive: (promptId, environment, id) =>
      call({
        kind: 'set',
        promptId,
        what: `${environment} ${id}`,
        effect: () => {
          const version = service.versions(promptId).find((one) => one.id === id);
          if (version !== undefined) watched.set(promptId, environment, version);
          if (version !== undefined && environment === TRACKING) noteTracked(kept, id);
          return service.setActive(promptId, environment, id);
        },
        ignore: async () => watched.ignoredSet(promptId, environment, id),
      }),
  };
}

/** Creates a version and records it. Everything up to the first `await` happens at once, so that the record is current. */
function createWatched(service: InMemoryService, watched: Calls['watched'], promptId: string, sent: NewServiceVersion) {
  const { text, metadata, stamp } = splitVersionRecord(sent);
  const made = { text, metadata, isBaseline: stamp.baseline === true };
  watched.creating(promptId, made);
  const answer = service.createVersion(promptId, sent);
  watched.created(promptId, service.versions(promptId).at(-1)!.id, made);
  return answer;
}

/** Returns the pinned versions that promptsync has read. It cannot know about later moves. */
function listPinnedVersions(
  { history }: World,
  promptId: string,
  shown: ReadonlyMap<string, string | null>,
): readonly string[] {
  const pins = head(history).files.get(promptId)?.file.pins ?? [];
  return pins.flatMap(({ environment, pin }) => {
    const active = shown.get(`${promptId} ${environment}`) ?? null;
    return pin.kind === 'latest' || active === null ? [] : [active];
  });
}

/** Records that promptsync knows a tracked version and the pinned versions in its ledger from now on. */
function noteTracked({ tracked, held, heldByPins }: Kept, versionId: string): void {
  tracked.add(versionId);
  for (const id of held.get(versionId) ?? []) heldByPins.add(id);
}

/** Whether the tracked version is this version or names it in its ledger. */
function isNamed(service: InMemoryService, promptId: string, versionId: string): boolean {
  const tracked = service.active(promptId, TRACKING);
  if (tracked === null) return false;
  return tracked.id === versionId || (tracked.record?.ledger ?? []).some(({ id }) => id === versionId);
}

/** Checks that the tracking environment moves only to a managed version whose ledger names the tracked version. */
function checkTracking(
  { service, madeByTool }: World,
  promptId: string,
  { id, record: stamp, number }: LedgerVersion,
): void {
  const old = service.active(promptId, TRACKING);
  const follows = old === null || (stamp?.ledger ?? []).some((entry) => entry.id === old.id);
  must(madeByTool.has(id) || (stamp !== null && follows), () => `${TRACKING} of ${promptId} is set to ${id}`);
  must(old === null || number >= old.number, () => `${TRACKING} of ${promptId} goes back from ${old?.id} to ${id}`);
}

/**
 * Whether promptsync may not know a version by its number. It finds numbers among the observed versions, in ledgers and
 * as the newest version. It may never have read a foreign version.
 */
function mayBeUnknown(kept: Kept, world: World, promptId: string, { id, number }: LedgerVersion): boolean {
  const { service, drops } = kept;
  const newer = service.versions(promptId).length - number;
  if (newer === 0 || isNamed(service, promptId, id)) return false;
  return drops || !world.madeByTool.has(id) || forgotten(kept, world, promptId, id) !== null;
}

/** Returns the known limit of the contract because of which promptsync may not find a version. */
function forgotten(kept: Kept, { madeByTool }: World, promptId: string, id: string): string | null {
  const { service, tracked, heldByPins, drops } = kept;
  if (drops) return 'services that drop metadata_';
  const versions = service.versions(promptId);
  const at = versions.findIndex((version) => version.id === id);
  const newer = versions.slice(at + 1);
  // The version is active nowhere, so that promptsync finds it only while it is the newest.
  if (newer.length > 0 && versions[at]?.content.text !== madeByTool.get(id))
    return 'rewritten, and not the newest any more';
  if (isNamed(service, promptId, id)) return null;
  if (!tracked.has(id) && newer.some((version) => !madeByTool.has(version.id))) {
    return "a lost create followed by somebody else's create";
  }
  // The tracked version and the 20 versions in its ledger.
  if (newer.length > 20 && !heldByPins.has(id)) return 'numbers more than 20 versions back that were never pinned';
  if (newer.filter((version) => heldByPins.has(version.id)).length >= 20) return 'more than 20 pinned ones back';
  return null;
}
