import type { GitSettings } from '../git/open-git.ts';
import type { Config } from './config.ts';

/** Returns the settings for git. git must not inherit the variables that contain the keys of the service. */
export function makeGitSettings({ root, service }: Pick<Config, 'root' | 'service'>): GitSettings {
  return { root, keyVariables: service?.kind === 'remote' ? service.keyVariables : [] };
}
