import { contentDigest, metadataDigest } from '../../src/domain/digest.ts';
import type { StoredVersion } from '../../src/embedded/store.ts';
import type { ReportChange, ReportPrompt } from '../../src/report/schema.ts';
import { parseReport } from '../support/report.ts';
import { draftOf, isWriteTo, nameOf } from './calls.ts';
import type { Snapshot } from './kept-store.ts';
import type { RunRecord } from './stage.ts';

/** What the report says of each prompt and of each change is so. */
export function reportIsTrue(record: RunRecord): readonly string[] {
  return parseReport(record.stdout).prompts.flatMap((prompt) => [
    ...statusFits(prompt),
    ...refusedIsNotWritten(prompt, record),
    ...prompt.changes.flatMap((change) => changeIsTrue(prompt.id, change, record)),
  ]);
}

/** Where no prompt could be observed there is no plan, and nothing was written. */
export function exitCodeFits({ exitCode, arrivals, stdout }: RunRecord): readonly string[] {
  const { prompts, plan_digest: digest } = parseReport(stdout);
  const statuses = new Set(prompts.map(({ status }) => status));
  const expected = digest === null ? 1 : statuses.has('failed') ? 4 : statuses.has('blocked') ? 3 : 0;
  const wrote = digest === null && arrivals.some(({ request }) => request.method !== 'GET');
  return [
    ...(exitCode === expected ? [] : [`it ended with ${exitCode} and not ${expected}: ${[...statuses].join(', ')}`]),
    ...(wrote ? ['it wrote without a plan'] : []),
  ];
}

function statusFits({ id, status, changes, problems }: ReportPrompt): readonly string[] {
  const done = changes.every((change) => change.status === 'made' || change.status === 'adopted');
  const excused = problems.some(({ severity }) => severity === 'error');
  const fine = status === 'applied' || status === 'unchanged';
  const failed = status === 'failed' || status === 'blocked';
  return [
    ...(fine && !done ? [`${id} is ${status}, and not every change is made`] : []),
    ...(failed && !excused ? [`${id} is ${status}, and no problem says why`] : []),
  ];
}

/** Looking is no writing of what was refused. */
function refusedIsNotWritten({ id, status }: ReportPrompt, { arrivals }: RunRecord): readonly string[] {
  if (status !== 'blocked') return [];
  const written = arrivals.filter(({ request }) => isWriteTo(request, id) && !nameOf(request).endsWith('-look'));
  return written.map(({ request }) => `${id} is blocked, and this was sent: ${nameOf(request)}`);
}

function changeIsTrue(promptId: string, change: ReportChange, record: RunRecord): readonly string[] {
  if (change.status === 'unknown') return [];
  const found = contradiction(promptId, change, record);
  return found === null ? [] : [`${promptId}: ${change.kind} is ${change.status ?? 'without a status'}, but ${found}`];
}

/** What the service holds instead. Not made means: this run has left it as it was. */
function contradiction(promptId: string, change: ReportChange, record: RunRecord): string | null {
  const { before, after } = record;
  const done = change.status !== 'not_made';
  switch (change.kind) {
    case 'create-version': {
      const holding = after.versions.filter((version) => version.prompt_id === promptId && holds(version, change));
      const found = holding.filter((version) => (done ? version.id === change.version?.id : isOf(record, version)));
      return done === found.length > 0 ? null : `the service has ${found.length} such versions`;
    }
    case 'set-active': {
      const old = before.at(promptId, change.environment).active_version?.id ?? null;
      const wanted = done && 'id' in change.after ? change.after.id : old;
      const active = after.at(promptId, change.environment).active_version?.id ?? null;
      return active === wanted ? null : `${change.environment} is on ${active}, not on ${wanted}`;
    }
    case 'update-prompt': {
      const news = Object.entries(change.fields).map(([name, field]) => [name, field.after]);
      const wanted = JSON.stringify({ ...fieldsOf(before, promptId), ...(done && Object.fromEntries(news)) });
      const fields = JSON.stringify(fieldsOf(after, promptId));
      return fields === wanted ? null : `the service has ${fields}`;
    }
  }
}

function holds(
  { content, metadata_: metadata }: StoredVersion,
  change: ReportChange & { kind: 'create-version' },
): boolean {
  if (contentDigest(content) !== change.digest) return false;
  return change.metadata_digest === undefined || change.metadata_digest === metadataDigest(metadata);
}

/** Whether a version was made by a request of this run, and not by a late one of the run before. */
function isOf({ arrivals }: RunRecord, { metadata_: metadata }: StoredVersion): boolean {
  const own = JSON.stringify(metadata);
  return arrivals.some(
    ({ request }) => nameOf(request) === 'create' && JSON.stringify(draftOf(request).metadata) === own,
  );
}

function fieldsOf(snapshot: Snapshot, promptId: string): Readonly<Record<string, string>> {
  const { key, name, description } = snapshot.ofPrompt(promptId);
  return { key, name, description: description ?? '' };
}
