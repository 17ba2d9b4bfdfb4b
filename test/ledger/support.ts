import type { PromptService } from '../../src/service/prompt-service.ts';
import { rejectWhenStopped } from '../doubles/record-calls.ts';
import type { Provider } from '../../src/domain/provider.ts';
import { makeLedgerProvider } from '../../src/ledger/provider.ts';

const NEVER_ABORTED = new AbortController().signal;

/** Opens a provider that can only observe. */
export function openLedger(service: PromptService, stop = NEVER_ABORTED): Provider {
  const refuseCall = () => {
    throw new TypeError('this provider only observes');
  };
  const world = { newOperation: refuseCall, textAt: refuseCall, sleep: refuseCall };
  return makeLedgerProvider({ ...world, service: rejectWhenStopped(service, stop) });
}
