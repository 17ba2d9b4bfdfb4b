import type { PromptService } from '../../src/service/prompt-service.ts';
import { untilStopped } from '../doubles/recorded.ts';
import type { Provider } from '../../src/domain/provider.ts';
import { ledgerProvider } from '../../src/ledger/provider.ts';
import { TRACKING } from '../planning/support.ts';

const GOES_ON = new AbortController().signal;

/** A provider that only observes. */
export function openLedger(service: PromptService, trackingEnvironment = TRACKING, stop = GOES_ON): Provider {
  const never = () => {
    throw new TypeError('there is nothing to write');
  };
  const world = { newOperation: never, textAt: never, sleep: never };
  return ledgerProvider({ ...world, service: untilStopped(service, stop), trackingEnvironment });
}
