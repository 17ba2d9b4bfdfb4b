import type { PromptPlan } from '../domain/plan.ts';
import type { TypedPromptIdentity } from '../domain/prompt-file.ts';
import type { ReportPrompt } from '../report/schema.ts';

/** The fields of a report that identify a prompt. */
type ReportIdentity = Pick<ReportPrompt, 'path' | 'id' | 'id_source' | 'key' | 'type' | 'url'>;

/**
 * Creates the fields that identify a prompt in a report.
 * @param plan the plan of the prompt, which contains the address of its page; undefined if the command made none
 */
export function makeIdentity(prompt: TypedPromptIdentity, plan?: PromptPlan): ReportIdentity {
  const { path, id, idSource, key, type } = prompt;
  const url = plan?.observed?.url;
  return {
    path,
    id,
    ...(idSource !== undefined && { id_source: idSource }),
    key,
    type,
    ...(url !== undefined && { url }),
  };
}
