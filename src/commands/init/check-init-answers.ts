import { getProviderWords } from '../../workspace/service-settings.ts';
import type { Config } from '../../workspace/config.ts';
import { makePlainReadRequest } from '../../domain/observed-prompt.ts';
import type { System } from '../../domain/system.ts';
import { makeProblem, type Problem, ProblemError, toProblem, wordProblem } from '../../problem.ts';
import { showHidden } from '../../text.ts';
import { openProvider, type ServiceOptions } from '../../run/open-service.ts';

/** The result of `probeService`: the problem, or null if there is none, and the HTTP status of the last response. */
type ProbeResult = { readonly problem: Problem | null; readonly status: number | null };

/** No service accepts this key. `init` sends the real key only to an address where a service has refused this one. */
const INVALID_KEY = { value: 'promptsync-init-checks-this-address', label: 'The test key' };

/**
 * Sends an invalid key instead of the user's. A prompt service refuses it, but most servers respond to a wrong path with
 * 404, whatever the key is. Returns the reason why the address is or may be wrong, and null if it is right.
 */
export async function findAddressFault(
  config: Config,
  options: ServiceOptions,
  system: System,
): Promise<string | null> {
  const { problem, status } = await probeService(config, { ...options, keys: [INVALID_KEY, INVALID_KEY] }, system);
  if (isKeyRefused(status)) return null;
  if (problem === null && status === 404)
    return 'promptsync sent an invalid API key as a test. The server responded with 404 (not found) instead of rejecting the key.';
  return describeFault(problem, config);
}

/** Returns null if the service accepts the keys. If it refuses them, the message names their variables. */
export async function findKeyFault(config: Config, options: ServiceOptions, system: System): Promise<string | null> {
  const { problem, status } = await probeService(config, options, system);
  const fault = describeFault(problem, config);
  if (fault === null || problem === null || !isKeyRefused(status)) return fault;
  return `${fault} ${showHidden(wordProblem(problem, getProviderWords(config)).hint)}`;
}

export function describeFault(problem: Problem | null, config: Config): string | null {
  return problem === null ? null : showHidden(wordProblem(problem, getProviderWords(config)).message);
}

function isKeyRefused(status: number | null): boolean {
  return status === 401 || status === 403;
}

/** Works without a prompt file. Lists the prompts or, if the service cannot, requests one that does not exist. */
async function probeService(config: Config, options: ServiceOptions, system: System): Promise<ProbeResult> {
  let status: number | null = null;
  const onCall: ServiceOptions['onCall'] = (report) => {
    status = report.status;
    options.onCall?.(report);
  };
  const request = { config, files: [], allFiles: [], repository: null };
  const opened = await openProvider(request, system, { ...options, onCall });
  if (!opened.isSuccess) return { problem: opened.problems[0] ?? null, status };
  const { provider, close } = opened.value;
  try {
    await (provider.list?.() ?? provider.observe(makePlainReadRequest('promptsync-init', [])));
    return { problem: null, status };
  } catch (error) {
    const problem = toProblem(error);
    const isMissingPrompt = provider.list === null && problem.code === 'service/prompt-not-found';
    return { problem: isMissingPrompt ? null : problem, status };
  } finally {
    await close();
    stopIfInterrupted(system);
  }
}

/** Throws a `ProblemError` if a signal arrived while no question was open. */
export function stopIfInterrupted({ stopSignal }: System): void {
  if (stopSignal.aborted) throw new ProblemError(makeProblem('usage/cancelled'));
}
