import type { Provider } from '../providers/provider-interface.ts';
import type { ServedPrompt } from '../domain/served-prompt.ts';
import type { Problem } from '../problem.ts';
import { type ObserveOptions, readEachPrompt } from './observe-prompts.ts';

/** What promptsync read for each prompt in one environment. Each requested prompt is in exactly one of the two maps. */
export type ServedReading = {
  /** The version that the environment serves, by prompt id. Null if no version is active there. */
  readonly served: ReadonlyMap<string, ServedPrompt | null>;
  readonly failed: ReadonlyMap<string, Problem>;
};

/** Reads what an environment serves. Never writes. A prompt that cannot be read does not stop the others. */
export async function readServedPrompts(
  provider: Provider,
  promptIds: readonly string[],
  environment: string,
  options: ObserveOptions,
): Promise<ServedReading> {
  const requests = promptIds.map((promptId) => ({ promptId }));
  const readServed = ({ promptId }: { readonly promptId: string }) => provider.readServed(promptId, environment);
  const { read: served, failed } = await readEachPrompt(requests, readServed, options);
  return { served, failed };
}
