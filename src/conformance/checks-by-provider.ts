import type { ConformanceRequest } from './requirements.ts';
import type { DoctorPoint } from '../domain/doctor-point.ts';
import { checkLangfuse } from './check-langfuse.ts';
import { checkFourCallService } from './check-four-call.ts';
import type { ProviderOpening } from '../providers/provider-descriptor.ts';
import type { ProviderName } from '../providers/provider-list.ts';

/** The checks are not part of the descriptors, because only `promptsync doctor --write` loads them. */
export const CONFORMANCE_CHECKS: Readonly<Record<ProviderName, ConformanceCheck>> = {
  integration: checkFourCallService,
  langfuse: checkLangfuse,
};

/**
 * Checks a service by writing to it. The last point lists what the check left behind. If it cannot start, throws a
 * `ServiceError` before it writes anything.
 */
export type ConformanceCheck = (
  opening: ProviderOpening,
  request: ConformanceRequest,
) => Promise<readonly DoctorPoint[]>;
