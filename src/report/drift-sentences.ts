import { refText } from './render-change.ts';
import { placeOf, type Restored } from './restored.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from './schema.ts';

/** What the sentences about drift are made from, besides the drift itself. */
export type DriftContext = {
  readonly prompt: ReportPrompt;
  readonly mode: Report['mode'];
  readonly restored: Restored;
  /** Makes a value from outside inert. */
  readonly show: (text: string) => string;
};

/** What stands in the service although no file says so, and what becomes of it: some sentences. */
export function driftSentences(drift: ReportDrift, context: DriftContext): string {
  const { show } = context;
  const then = thenText(drift, context);
  const kind = drift.kind === 'outside' ? 'changed outside of git' : 'unfinished: not synced yet';
  if ('field' in drift) {
    const [observed, expected] = [drift.observed, drift.expected].map(show);
    return `${drift.field} is ${observed}, the base wants ${expected} (${kind}). ${then}`;
  }
  const { environment, observed, expected } = drift;
  const wants = `the base wants ${show(refText(expected))}`;
  if (observed === null) return `${show(environment)} has nothing active, ${wants}.`;
  const undo = `To keep it, pin ${show(`version:${observed.id}`)}.`;
  return `${show(environment)} serves ${show(refText(observed))}, ${wants} (${kind}). ${then} ${undo}`;
}

/** What a sync does about drift, or what this one has done. */
function thenText(drift: ReportDrift, { prompt, mode, restored }: DriftContext): string {
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
