import type { ConformanceRequest } from '../domain/conformance.ts';
import type { DoctorPoint } from '../domain/doctor-point.ts';
import { checkLangfuse } from '../langfuse/check-conformance.ts';
import { checkFourCallService } from '../ledger/check-conformance.ts';
import type { ProviderOpening } from './descriptor.ts';
import type { ProviderName } from './list.ts';

/**
 * The conformance check of each provider. It finds out whether a service behaves in the way that promptsync needs. The
 * checks are not part of the descriptors, because only `promptsync doctor --write` loads them.
 */
export const CONFORMANCE_CHECKS: Readonly<Record<ProviderName, ConformanceCheck>> = {
  integration: checkFourCallService,
  langfuse: checkLangfuse,
};

/**
 * Checks a service by writing to it. Returns the points about the rules, followed by one that lists what the check left
 * behind. If it cannot start, it throws a `ServiceError` before it writes anything.
 */
export type ConformanceCheck = (
  opening: ProviderOpening,
  request: ConformanceRequest,
) => Promise<readonly DoctorPoint[]>;
