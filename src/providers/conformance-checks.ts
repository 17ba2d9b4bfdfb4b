import type { ConformanceRequest } from '../domain/conformance.ts';
import type { DoctorPoint } from '../domain/doctor-point.ts';
import { checkLangfuse } from '../langfuse/check-conformance.ts';
import { checkFourCallService } from '../ledger/check-conformance.ts';
import type { ProviderOpening } from './descriptor.ts';
import type { ProviderName } from './list.ts';

/**
 * The check of each provider whether its service behaves in the way that promptsync needs. They are not part of the
 * descriptors, because only `promptsync doctor --write` loads them.
 */
export const CONFORMANCE_CHECKS: Readonly<Record<ProviderName, ConformanceCheck>> = {
  integration: checkFourCallService,
  langfuse: checkLangfuse,
};

/**
 * Checks a service, and writes to it. Returns the points about the rules, and then one about what the check left behind.
 * Throws a `ServiceError` if it cannot start. In that case, it has written nothing.
 */
export type ConformanceCheck = (
  opening: ProviderOpening,
  request: ConformanceRequest,
) => Promise<readonly DoctorPoint[]>;
