import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { commitAll, commitEdits, makeRepository, writeFiles, type Files } from './folder.ts';
import { promptText, type PromptParts } from './prompts.ts';
import { run, runJson, type Reported } from './run.ts';
import { startTestService, type TestService } from './service.ts';

export const PATH = 'prompts/greeting.md';

/** A configuration over the shared prompt files. */
export type SharedConfig = {
  /** The settings below `service`. */
  readonly service: string;
  /** The other settings. */
  readonly settings: string;
};

/** Makes a repository in which several configurations use the same prompt files. */
export function makeSharedRepository(
  configs: Readonly<Record<string, SharedConfig>>,
  prompts: Readonly<Record<string, PromptParts>>,
): string {
  const configFiles = Object.entries(configs).map(([name, { service, settings }]) => {
    return [`${name}.yaml`, `service: { ${service} }\n${settings}`];
  });
  const promptFiles = Object.entries(prompts).map(([id, parts]) => [`prompts/${id}.md`, promptText(id, parts)]);
  const files: Files = Object.fromEntries([...configFiles, ...promptFiles]);
  return makeRepository(files);
}

/** Returns the functions that work in a shared repository. Each run names its configuration. */
export function openShared(folder: string, environment: Readonly<Record<string, string>>) {
  const write = (parts: PromptParts, id = 'greeting'): void =>
    writeFiles(folder, { [`prompts/${id}.md`]: promptText(id, parts) });
  return {
    folder,
    read: (path = PATH): string => readFileSync(join(folder, path), 'utf8'),
    write,
    /** Writes and commits a prompt file. Returns the commit. */
    commit: (parts: PromptParts, id = 'greeting'): string => {
      write(parts, id);
      return commitAll(folder, 'Edit');
    },
    /** Commits the edits of a command. Returns the commit. */
    commitEdits: (): string => commitEdits(folder, 'Accept'),
    run: (config: string, ...words: readonly string[]) =>
      run(folder, [...words, '--config', `${config}.yaml`], { environment }),
    json: (config: string, ...words: readonly string[]): Promise<Reported> =>
      runJson(folder, [...words, '--config', `${config}.yaml`], { environment }),
  };
}

/** Returns each pin in the source of a prompt file, such as `staging: latest`. */
export function pinsIn(source: string): readonly string[] {
  const { pins } = z.object({ pins: z.record(z.string(), z.unknown()).default({}) }).parse(parse(yamlIn(source)));
  return Object.entries(pins).map(([environment, pin]) => `${environment}: ${String(pin)}`);
}

function yamlIn(source: string): string {
  return source.split('---\n')[1] ?? '';
}

/** Two four-call services, by the name of their configuration. */
export type TestServices = Readonly<Record<'staging' | 'production', TestService>>;

const STAGES = {
  staging: 'environments: { staging: {} }\nother_environments: [production]\n',
  production:
    'environments: { production: { promote_from: staging, allow_latest: false } }\nother_environments: [staging]\n',
};

/** Makes two four-call services, one for each stage, with the same prompts, and a configuration for each of them. */
export async function makeStages(prompts: Readonly<Record<string, PromptParts>>) {
  const ids = Object.keys(prompts);
  const services: TestServices = {
    staging: await startTestService(ids, 'sk-staging-0123456789'),
    production: await startTestService(ids, 'sk-production-0123456789'),
  };
  const configs = Object.entries(services).map(([name, { baseUrl }]): [string, SharedConfig] => {
    const service = `base_url: "${baseUrl}", api_key_env: ${name.toUpperCase()}_KEY`;
    return [name, { service, settings: STAGES[name === 'staging' ? 'staging' : 'production'] }];
  });
  const keys = { STAGING_KEY: 'sk-staging-0123456789', PRODUCTION_KEY: 'sk-production-0123456789' };
  const folder = makeSharedRepository(Object.fromEntries(configs), prompts);
  const shared = openShared(folder, keys);
  return {
    ...shared,
    services,
    /** Syncs with one configuration. */
    sync: (config: keyof TestServices) => shared.json(config, 'sync', '--yes'),
    /** Returns the text that a service serves. */
    serves: (config: keyof TestServices, environment: string, id = 'greeting'): string | null =>
      services[config].store.readPrompt(`prm_${id}`, environment)?.active_version?.content ?? null,
  };
}
