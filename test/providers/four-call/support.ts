import type { PromptService } from '../../../src/providers/four-call/prompt-service.ts';
import { rejectWhenStopped } from '../../doubles/record-calls.ts';
import type { Provider } from '../../../src/providers/provider-interface.ts';
import { makeFourCallProvider } from '../../../src/providers/four-call/provider.ts';

const NEVER_ABORTED = new AbortController().signal;

/** Opens a provider that can only observe. */
export function openLedger(service: PromptService, stop = NEVER_ABORTED): Provider {
  const refuseCall = () => {
    throw new TypeError('this provider only observes');
  };
  const system = { newOperation: refuseCall, textAt: refuseCall, sleep: refuseCall };
  return makeFourCallProvider({ ...system, service: rejectWhenStopped(service, stop) });
}
