import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { commitAllAt, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { run, runJson, type Reported } from '../support/run.ts';
import { changeService, startTestService } from '../support/service.ts';

/** A request, as a double records it. */
type MonthRequest = { readonly path: string; readonly body?: unknown };

/** A service with its configuration. */
type MonthService = {
  /** The name of the configuration, and of the variable with the key. */
  readonly name: string;
  /** The environments that the configuration manages, in promotion order. */
  readonly environments: readonly string[];
  /** The settings below `service` in the configuration. */
  readonly settings: string;
  readonly key: string;
  /** All requests so far. */
  readonly requests: readonly MonthRequest[];
  /** Returns the number of requests with a wrong key. */
  readonly countRefusals: () => number;
  /** Creates a version by hand, and makes it active. */
  readonly edit: (prompt: string, environment: string, text: string) => Promise<unknown>;
};

const PROMPTS = ['greeting', 'refund', 'agent'];
/** The environments that promptsync uses for itself in a four-call service. */
const OWN_ENVIRONMENTS = ['promptsync', 'promptsync-look'];

/** The environments between which prompts are promoted, and the configurations that can write the promotion. */
const PROMOTIONS = [
  // Each stage is a project of its own.
  { from: 'staging', to: 'production', configs: ['production'] },
  // Both regions have the same environments.
  { from: 'preview', to: 'live', configs: ['eu', 'us'] },
  // Two four-call services have the same environments and the same prompt ids.
  { from: 'dev', to: 'prod', configs: ['alpha', 'beta'] },
];

const ENVIRONMENTS = PROMOTIONS.flatMap(({ from, to }) => [from, to]);

/** Makes a generator of random numbers below 1 (mulberry32), so that a month can be replayed from its seed. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function startProject(name: string, environments: readonly string[]): Promise<MonthService> {
  const key = `sk-lf-${name}-0123456789`;
  const { baseUrl, requests, store, countRefusals } = await startLangfuse({ secretKey: key });
  return {
    ...{ name, environments, key, requests, countRefusals },
    settings: `provider: langfuse, base_url: "${baseUrl}", secret_key_env: ${name.toUpperCase()}_KEY`,
    edit: async (prompt, environment, text) => store.addVersion(`prm_${prompt}`, { text, labels: [environment] }),
  };
}

async function startFourCall(name: string): Promise<MonthService> {
  const key = `sk-${name}-0123456789`;
  const { baseUrl, requests } = await startTestService(PROMPTS, key);
  return {
    ...{ name, environments: ['dev', 'prod'], key, requests },
    settings: `base_url: "${baseUrl}", api_key_env: ${name.toUpperCase()}_KEY`,
    countRefusals: () => requests.filter(({ status }) => status === 401 || status === 403).length,
    edit: (prompt, environment, text) => changeService(baseUrl, prompt, environment, text, key),
  };
}

function startServices(): Promise<readonly MonthService[]> {
  return Promise.all([
    startProject('staging', ['staging']),
    startProject('production', ['production']),
    startProject('eu', ['preview', 'live']),
    startProject('us', ['preview', 'live']),
    startFourCall('alpha'),
    startFourCall('beta'),
  ]);
}

/** Renders a configuration. All environments that it does not manage belong to other configurations. */
function renderConfig({ settings, environments }: MonthService): string {
  const rules = environments.map((name) => {
    const source = PROMOTIONS.find(({ to }) => to === name)?.from;
    return source === undefined ? `  ${name}:\n` : `  ${name}: { promote_from: ${source}, allow_latest: false }\n`;
  });
  const others = ENVIRONMENTS.filter((name) => !environments.includes(name));
  return [
    `service: { ${settings} }\n`,
    `environments:\n${rules.join('')}`,
    `other_environments: [${others.join(', ')}]\n`,
    'portable_pins: true\n',
  ].join('');
}

/** Returns the environments that a request names in its query or in its body. */
function listNamedEnvironments({ path, body }: MonthRequest): readonly string[] {
  const query = new URL(path, 'http://service').searchParams;
  const sent = JSON.stringify(body ?? null);
  const labels = /"(?:newLabels|labels)":\["([^\]]*)"\]/.exec(sent)?.[1]?.split('","') ?? [];
  const environments = /"environment":"([^"]*)"/.exec(sent)?.slice(1) ?? [];
  return [...query.getAll('environment'), ...query.getAll('label'), ...labels, ...environments];
}

function makeTime(day: number, hour: number): string {
  return `2026-03-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`;
}

/** Expects that a run succeeded, or that the only prompt is blocked for one of these reasons. */
function expectOutcome({ exitCode, report }: Reported, ...reasons: readonly string[]): void {
  if (exitCode === 0) return;
  const codes = report.prompts.flatMap(({ problems }) => problems.map(({ code }) => code));
  expect(reasons, `exit ${exitCode}: ${codes.join(', ')}`).toEqual(expect.arrayContaining(codes));
}

export type Month = Awaited<ReturnType<typeof makeMonth>>;

/** Starts six services over one set of prompt files in one repository. All of them start empty. */
export async function makeMonth(seed: number) {
  const random = makeRandom(seed);
  const services = await startServices();
  const environment = {
    LANGFUSE_PUBLIC_KEY: 'pk-lf-0123456789',
    ...Object.fromEntries(services.map(({ name, key }) => [`${name.toUpperCase()}_KEY`, key])),
  };
  const pins = { staging: 'latest', preview: 'latest', dev: 'latest' };
  const folder = makeRepository({
    ...Object.fromEntries(services.map((service) => [`${service.name}.yaml`, renderConfig(service)])),
    // In Langfuse, the name of a prompt is its id. With the same name, one file suits both kinds of services.
    ...Object.fromEntries(
      PROMPTS.map((id) => {
        const text = `You are ${id}.\n\nBe brief.\n\nBe kind.`;
        return [`prompts/${id}.md`, promptText(id, { name: `prm_${id}`, pins, text })];
      }),
    ),
  });
  const counts = new Map<string, number>();
  /** What happened so far, for the message of a failure. */
  const events: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
  const pickText = (): string => `${pick(['Greet', 'Thank', 'Ask', 'Warn'])} ${Math.floor(random() * 1e6)} times.`;

  /** Runs a command with one configuration. Expects that it requests nothing from any other service. */
  const runWith = async (name: string, ...words: readonly string[]): Promise<Reported> => {
    const others = services.filter((service) => service.name !== name);
    const before = others.map(({ requests }) => requests.length);
    const ran = await runJson(folder, [...words, '--config', `${name}.yaml`], { environment });
    expect(others.map(({ requests }) => requests.length)).toEqual(before);
    for (const { key } of services) expect(ran.stdout + ran.stderr).not.toContain(key);
    count(`runs of ${words[0]}`);
    if (words[0] !== 'sync') events.push(`${name}: ${words.join(' ')} (exit ${ran.exitCode})`);
    return ran;
  };

  /** Commits what a command wrote. Returns false if there was nothing to commit. */
  const accept = (time: string): boolean => {
    if (git(folder, 'status', '--short') === '') return false;
    commitAllAt(folder, time);
    return true;
  };

  const edit = async (prompt: string, time: string): Promise<void> => {
    const path = `prompts/${prompt}.md`;
    const source = readFileSync(join(folder, path), 'utf8');
    const line = pick(source.trimEnd().split('\n\n').slice(1));
    writeFiles(folder, { [path]: source.replace(line, pickText()) });
    events.push(`edit ${prompt}`);
    if (accept(time)) count('edits');
  };

  const promote = async (prompt: string, time: string): Promise<void> => {
    const { to, configs } = pick(PROMOTIONS);
    const promoted = await runWith(pick(configs), 'promote', prompt, '--to', to);
    // Somebody may have changed the source environment by hand today.
    expectOutcome(promoted, 'pin/not-in-git');
    if (accept(time)) count('promotions');
  };

  const rollBack = async (prompt: string, time: string): Promise<void> => {
    const { to, configs } = pick(PROMOTIONS);
    const rolledBack = await runWith(pick(configs), 'rollback', prompt, '--environment', to);
    expectOutcome(rolledBack, 'rollback/nothing-before', 'rollback/nothing-served');
    if (accept(time)) count('rollbacks');
  };

  /** Changes a prompt in one service by hand. Then sometimes pulls the change instead of leaving it to the sync. */
  const drift = async (prompt: string, time: string): Promise<void> => {
    const service = pick(services);
    const changed = pick(service.environments);
    await service.edit(prompt, changed, `${pickText()}\n\nBe brief.\n\nBe kind.`);
    events.push(`${service.name}: somebody changes ${prompt} in ${changed}`);
    count('drifts');
    if (random() < 0.5) return;
    const { exitCode } = await runWith(service.name, 'pull', prompt, '--theirs');
    expect(exitCode).toBe(0);
    if (accept(time)) count('pulls');
  };

  return {
    counts,
    /** Returns the number of requests that each service received. */
    countRequests: () => new Map(services.map(({ name, requests }) => [name, requests.length])),
    /**
     * Does the work of the first half of a day: promotions and rollbacks, and then edits. Nobody changes a service
     * meanwhile. In both of these cases, the guard of the promotion order may refuse to restore an environment later: if
     * a source environment was changed by hand, or if a text had already been replaced when it was promoted.
     */
    workInGit: async (day: number): Promise<void> => {
      events.push(`day ${day}`);
      for (const [hour, act] of [promote, rollBack, edit].entries()) {
        if (random() < 0.7) await act(pick(PROMPTS), makeTime(day, hour));
      }
    },
    /**
     * Does the work of the second half of a day: one change by hand in a service, sometimes a pull, and further edits.
     * Where somebody changes both environments of a promotion, nothing shows what was promoted.
     */
    workInServices: async (day: number): Promise<void> => {
      for (const [hour, act] of [drift, edit].entries()) {
        if (random() < 0.8) await act(pick(PROMPTS), makeTime(day, 12 + hour));
      }
    },
    /** Syncs with each configuration. Expects that the next plan is empty, and that each request was for its service. */
    syncAll: async (what: string): Promise<void> => {
      for (const { name } of services.toSorted(() => random() - 0.5)) {
        const synced = await runWith(name, 'sync', '--yes');
        const problems = synced.report.prompts.flatMap((prompt) => prompt.problems.map(({ message }) => message));
        expect(synced.exitCode, `${name}, ${what}\n${problems.join('\n')}\n${events.join('\n')}`).toBe(0);
        const plan = await run(folder, ['plan', '--exit-code', '--config', `${name}.yaml`], { environment });
        expect(plan.exitCode, `plan of ${name}, ${what}\n${plan.stdout}`).toBe(0);
        count('runs of plan');
      }
      for (const { name, environments, requests, countRefusals } of services) {
        const named = new Set(requests.flatMap(listNamedEnvironments)).difference(new Set(OWN_ENVIRONMENTS));
        expect([...named.difference(new Set(environments))], `${name}, ${what}`).toEqual([]);
        expect(countRefusals(), `refused keys of ${name}, ${what}`).toBe(0);
      }
    },
  };
}
