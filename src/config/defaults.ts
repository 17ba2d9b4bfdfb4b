import { DEFAULT_KEY_VARIABLE } from './api-key.ts';
import type { WrittenConfig } from './shape.ts';

/** What settings are where promptsync.yaml leaves them out, by their names there. docs/configuration.md tells them. */
export const DEFAULTS = {
  api_key_env: DEFAULT_KEY_VARIABLE,
  prompts: ['prompts/**/*.md'],
  allow_latest: true,
  tracking_environment: 'promptsync',
  on_drift: 'overwrite',
  concurrency: 8,
  timeout_seconds: 15,
} as const satisfies WrittenConfig & { readonly api_key_env: string; readonly allow_latest: boolean };
