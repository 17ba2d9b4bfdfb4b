import { CONFORMANCE_RULES } from '../../src/conformance/requirements.ts';
import { FOUR_CALL_REQUIREMENTS } from '../../src/conformance/four-call-requirements.ts';
import { sentence, table, type Parts } from './parts.ts';

/** Makes the part `requirements`: what a four-call service must do, and what is lost otherwise. */
export function makeConformanceParts(): Parts {
  const rows = CONFORMANCE_RULES.map((rule) => {
    const { point, request, loss } = FOUR_CALL_REQUIREMENTS[rule];
    return [`\`${point}\``, sentence(request), loss];
  });
  return { requirements: table(['point', 'the service must', 'if it does not'], rows) };
}
