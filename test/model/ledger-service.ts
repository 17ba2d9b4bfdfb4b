import { ledgerProvider } from '../../src/ledger/provider.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import type { NewVersion, PromptService } from '../../src/service/prompt-service.ts';
import { inMemoryService, type InMemoryService } from '../doubles/in-memory-service.ts';
import { apart } from '../doubles/recorded.ts';
import { LOOK, TRACKING, type Setup } from './commands.ts';
import { contentAtPath, head } from './history.ts';
import { must } from './laws.ts';
import type { Calls } from './port.ts';
import { storedText, type ServiceModel, type World } from './world.ts';

/** The service, and what the model keeps in mind of its ledgers. */
type Kept = {
  readonly service: InMemoryService;
  readonly drops: boolean;
  /** Ids of the versions that the tool has made active in the tracking environment. */
  readonly tracked: Set<string>;
  /** By version that the tool made: the versions that a pin other than `latest` stood on then. */
  readonly held: Map<string, readonly string[]>;
  /** Those of them that the tool's record has come to hold on to. */
  readonly heldByPins: Set<string>;
};

/** The service of the four calls. */
export function openLedgerService(setup: Setup, prompts: readonly string[]): ServiceModel {
  const service = openService(setup, prompts);
  const { versions, active, addVersion, activate } = service;
  const drops = setup.service === 'drops';
  const kept: Kept = { service, drops, tracked: new Set(), held: new Map(), heldByPins: new Set() };
  const isReachable = (promptId: string, id: string) => isNamed(service, promptId, id);
  return {
    ...{ versions, active, addVersion, activate, pinsIds: true, movesInCreates: false, takesAny: false },
    version: (promptId, id) => versions(promptId).find((version) => version.id === id),
    fields: (promptId) => service.readPrompt(promptId),
    act: (promptId, command) => {
      // The body of an in-memory call is done when it returns.
      if (command.kind === 'their-fields') void service.updatePrompt(promptId, command.fields);
    },
    connect: (world, calls) => connect(kept, world, calls),
    checkOwnSet: (world, promptId, environment, version) => {
      if (environment === TRACKING) checkTracking(world, promptId, version);
      return environment === TRACKING || environment === LOOK;
    },
    checkRun: () => {},
    ...{ isKept: isReachable, isFindable: isReachable },
    mayBeUnknown: (world, promptId, version) => mayBeUnknown(kept, world, promptId, version),
    isRemembered: ({ madeByTool }, { id, pins }) => {
      const served = pins.map(({ environment }) => active(id, environment));
      const own = served.some((version) => version !== null && (madeByTool.has(version.id) || version.stamp !== null));
      return own || active(id, TRACKING) !== null;
    },
    isRecognised: ({ madeByTool }, { id }, text) => madeByTool.get(id) === text,
    forgotten: (world, promptId, id) => forgotten(kept, world, promptId, id),
  };
}

/** As faithful as the setup says. */
function openService(setup: Setup, prompts: readonly string[]): InMemoryService {
  const seeds = prompts.map((id) => ({ id, key: `k/${id}`, name: 'Before', description: '' }));
  const faithful = inMemoryService(seeds);
  switch (setup.service) {
    case 'faithful':
      return faithful;
    case 'tidies':
      return {
        ...faithful,
        createVersion: (promptId, version) =>
          faithful.createVersion(promptId, { ...version, text: storedText(setup, version.text) }),
        addVersion: (promptId, version) =>
          faithful.addVersion(promptId, { ...version, text: storedText(setup, version.text) }),
      };
    case 'drops':
      return {
        ...faithful,
        createVersion: async (promptId, { text }) => {
          faithful.addVersion(promptId, { text });
          return structuredClone(faithful.versions(promptId).at(-1)!);
        },
        addVersion: (promptId, { text }) => faithful.addVersion(promptId, { text }),
      };
  }
}

let operations = 0;

function connect(kept: Kept, world: World, calls: Calls) {
  return ledgerProvider({
    service: callsOf(kept, world, calls),
    trackingEnvironment: TRACKING,
    newOperation: () => `op_${++operations}`,
    textAt: async (at, path) => contentAtPath(world.history, at, path),
    sleep: calls.sleep,
  });
}

function callsOf(kept: Kept, world: World, { call, watched }: Calls): PromptService {
  const { service, held } = kept;
  const told = new Map<string, string | null>();
  return {
    readPrompt: async (promptId, environment) => {
      const read = () => {
        watched.beforeRead(promptId);
        return service.readPrompt(promptId, environment);
      };
      const prompt = await call({ kind: 'read', promptId, what: environment ?? '', effect: read, ignore: read });
      if (environment !== undefined) told.set(`${promptId} ${environment}`, prompt.activeVersion?.id ?? null);
      return prompt;
    },
    createVersion: (promptId, version) => {
      const create = () => {
        const answer = createWatched(service, watched, promptId, version);
        held.set(service.versions(promptId).at(-1)!.id, standing(world, promptId, told));
        return answer;
      };
      return call({ kind: 'create', promptId, what: JSON.stringify(version.text), effect: create, ignore: create });
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

/** Everything up to the first `await` happens at once: what is noted is never behind what is so. */
function createWatched(service: InMemoryService, watched: Calls['watched'], promptId: string, sent: NewVersion) {
  const { text, metadata, stamp } = apart(sent);
  const made = { text, metadata, isBaseline: stamp.baseline === true };
  watched.creating(promptId, made);
  const answer = service.createVersion(promptId, sent);
  watched.created(promptId, service.versions(promptId).at(-1)!.id, made);
  return answer;
}

/** The tool can hold on to what it was told of alone, not to what somebody has moved since. */
function standing({ history }: World, promptId: string, told: ReadonlyMap<string, string | null>): readonly string[] {
  const pins = head(history).files.get(promptId)?.file.pins ?? [];
  return pins.flatMap(({ environment, pin }) => {
    const active = told.get(`${promptId} ${environment}`) ?? null;
    return pin.kind === 'latest' || active === null ? [] : [active];
  });
}

/** What the tracking environment has stood on is known from then on, with all that its ledger holds on to. */
function noteTracked({ tracked, held, heldByPins }: Kept, versionId: string): void {
  tracked.add(versionId);
  for (const id of held.get(versionId) ?? []) heldByPins.add(id);
}

/** Whether the version that the tracking environment stands on is this one or names it in its ledger. */
function isNamed(service: InMemoryService, promptId: string, versionId: string): boolean {
  const tracked = service.active(promptId, TRACKING);
  if (tracked === null) return false;
  return tracked.id === versionId || (tracked.stamp?.ledger ?? []).some(({ id }) => id === versionId);
}

/** The tracking environment moves to versions of the tool's own, and to one that names the version it stands on. */
function checkTracking({ service, madeByTool }: World, promptId: string, { id, stamp, number }: Version): void {
  const old = service.active(promptId, TRACKING);
  const follows = old === null || (stamp?.ledger ?? []).some((entry) => entry.id === old.id);
  must(madeByTool.has(id) || (stamp !== null && follows), () => `${TRACKING} of ${promptId} is set to ${id}`);
  must(old === null || number >= old.number, () => `${TRACKING} of ${promptId} goes back from ${old?.id} to ${id}`);
}

/**
 * A number is found among the versions observed, in the ledgers, or as the newest version that there is. Of versions
 * that somebody else made the tool may never have heard.
 */
function mayBeUnknown(kept: Kept, world: World, promptId: string, { id, number }: Version): boolean {
  const { service, drops } = kept;
  const newer = service.versions(promptId).length - number;
  if (newer === 0 || isNamed(service, promptId, id)) return false;
  return drops || !world.madeByTool.has(id) || forgotten(kept, world, promptId, id) !== null;
}

/** The known limits of the contract. */
function forgotten(kept: Kept, { madeByTool }: World, promptId: string, id: string): string | null {
  const { service, tracked, heldByPins, drops } = kept;
  if (drops) return 'services that drop metadata_';
  const versions = service.versions(promptId);
  const at = versions.findIndex((version) => version.id === id);
  const newer = versions.slice(at + 1);
  // It is made active nowhere, so that only its being the newest tells of it.
  if (newer.length > 0 && versions[at]?.text !== madeByTool.get(id)) return 'rewritten, and not the newest any more';
  if (isNamed(service, promptId, id)) return null;
  if (!tracked.has(id) && newer.some((version) => !madeByTool.has(version.id))) {
    return "a lost create followed by somebody else's create";
  }
  // The tracking environment's own version and the 20 of its ledger.
  if (newer.length > 20 && !heldByPins.has(id)) return 'numbers more than 20 versions back that were never pinned';
  if (newer.filter((version) => heldByPins.has(version.id)).length >= 20) return 'more than 20 pinned ones back';
  return null;
}
