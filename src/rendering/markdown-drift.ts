import type { Report, ReportChange, ReportDrift, ReportPrompt } from '../schemas/report.ts';
import { inertCode } from './inert-markdown.ts';
import { refText } from './render-change.ts';
import { placeOf, type Restored } from './restored.ts';

/** What stands in the service although no file says so, as an item of a list. */
export function driftItem(prompt: ReportPrompt, drift: ReportDrift, mode: Report['mode'], restored: Restored): string {
  const { key } = prompt;
  const then = thenText(prompt, drift, mode, restored);
  const kind = drift.kind === 'outside' ? 'changed outside of git' : 'left unfinished by an earlier run';
  if ('field' in drift) {
    const [observed, expected] = [drift.observed, drift.expected].map(inertCode);
    return `- ${inertCode(key)}: ${drift.field} is ${observed}, the base wants ${expected} (${kind}). ${then}\n`;
  }
  const { environment, observed, expected } = drift;
  const title = `- ${inertCode(key)}: ${inertCode(environment)}`;
  if (observed === null) return `${title} has nothing active, the base wants ${inertCode(refText(expected))}.\n`;
  const undo = `To keep it, pin ${inertCode(`version:${observed.id}`)}.`;
  const serves = `serves ${inertCode(refText(observed))}, the base wants ${inertCode(refText(expected))}`;
  return `${title} ${serves} (${kind}). ${then} ${undo}\n`;
}

/** What a sync does about drift, or what this one has done. */
function thenText(prompt: ReportPrompt, drift: ReportDrift, mode: Report['mode'], restored: Restored): string {
  if (prompt.status === 'blocked') return 'The prompt is blocked: a sync leaves it as it is.';
  const puts = restored.has(placeOf(prompt.id, drift));
  if (mode !== 'apply') return puts ? 'A sync puts it back.' : 'A sync sets what the files want now.';
  const status = prompt.changes.find((change) => isAt(change, drift))?.status;
  if (status === 'unknown') return 'It is not known whether this run changed it.';
  if (status !== 'made' && status !== 'adopted') return 'This run did not change it.';
  return puts ? 'This run put it back.' : 'This run set what the files want now.';
}

function isAt(change: ReportChange, drift: ReportDrift): boolean {
  if (change.kind === 'set-active') return 'environment' in drift && drift.environment === change.environment;
  return change.kind === 'update-prompt' && 'field' in drift && drift.field in change.fields;
}
