import { writeYaml, type YamlValue } from '../../files/write-yaml.ts';
import type { InitAnswers } from './init-answers.ts';

const EMBEDDED_DATABASE = '.promptsync/service.db';

/** The text of promptsync.yaml. Whatever the answers hold, it says just that: a fault is found when it is parsed. */
export function configText({ url, keyVariable, folder, environments }: InitAnswers): string {
  const service = url === null ? embedded() : remote(url, keyVariable);
  return [
    service,
    '# Patterns of prompt files, relative to this file.',
    mapping('prompts', [patternOf(folder)]),
    '# In promotion order. What is promoted is a version that the environment before serves already.',
    mapping('environments', promotions(environments)),
  ].join('\n');
}

export function patternOf(folder: string): string {
  return `${folder}/**/*.md`;
}

function remote(url: string, keyVariable: string): string {
  return [
    '# Where the prompts go. The variable PROMPTSYNC_BASE_URL goes before base_url, and api_key_env is the NAME of the',
    '# variable that holds the API key, never the key itself.',
    mapping('service', { base_url: url, api_key_env: keyVariable }),
  ].join('\n');
}

function embedded(): string {
  return [
    '# The embedded service, for a first try. For a real one put `base_url: https://…` in place of `embedded`, and the',
    '# API key into the variable PROMPTSYNC_API_KEY.',
    mapping('service', { embedded: EMBEDDED_DATABASE }),
  ].join('\n');
}

/** Each environment but the first is promoted to from the one before it. */
function promotions(names: readonly string[]): ReadonlyMap<string, YamlValue> {
  return new Map(
    names.map((name, index): [string, YamlValue] => {
      const before = names[index - 1];
      return [name, before === undefined ? {} : { promote_from: before, allow_latest: false }];
    }),
  );
}

function mapping(name: string, value: YamlValue): string {
  return writeYaml(new Map([[name, value]]));
}
