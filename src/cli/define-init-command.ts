import { Option } from 'commander';
import { NAMED_PROVIDERS, type NamedProviderName, PROVIDER_CHOICES } from '../providers/provider-list.ts';
import { type CommandDefinition, defineReportCommand } from './define-command.ts';
import { type Flag, makeBooleanFlag, makeTextFlag, REPORT_FLAGS } from './flags.ts';

const ci: Flag<string | undefined> = new Option(
  '--ci <system>',
  'the CI system to write files for (default: gitlab if the host name of the "origin" remote contains "gitlab"; otherwise github)',
).choices(['github', 'gitlab', 'none']);
const namedProviders = Object.values(NAMED_PROVIDERS);
const provider: Flag<NamedProviderName | undefined> = new Option(
  '--provider <name>',
  `connect to ${namedProviders.map(({ title }) => title).join(' or ')}`,
).choices(PROVIDER_CHOICES);
const addressVariables = namedProviders.map(({ defaultAddress }) => defaultAddress.variables.join(', or else '));

export const INIT_COMMAND: CommandDefinition = defineReportCommand({
  name: 'init',
  group: 'Start',
  help: 'create a workspace in this folder (in a terminal, asks for missing settings)',
  flags: {
    provider,
    url: makeTextFlag(
      '--url <url>',
      `the address of the prompt service (with --provider, the default comes from ${addressVariables.join('; ')})`,
    ),
    embedded: makeBooleanFlag('--embedded', 'use the embedded service to try out promptsync'),
    apiKeyEnv: makeTextFlag(
      '--api-key-env <name>',
      'the name of the environment variable that contains the API key (default: PROMPTSYNC_API_KEY)',
    ),
    dir: makeTextFlag('--dir <folder>', 'the folder for the prompt files (default: prompts)'),
    environments: makeTextFlag(
      '--environments <names>',
      'the environments in promotion order, separated by commas (default: staging,production)',
    ),
    id: makeTextFlag(
      '--id <id>',
      'the first prompt to import; if you specify one, init checks the address and the key of the service before it writes any files',
    ),
    ci,
    preCommit: makeBooleanFlag(
      '--pre-commit',
      'write .pre-commit-config.yaml, so that pre-commit checks the prompt files before each commit',
    ),
    force: makeBooleanFlag('--force', 'overwrite existing files that differ'),
    ...REPORT_FLAGS,
  },
  command: async (options, _, system) => (await import('../commands/init/init.ts')).init(options, system),
});
