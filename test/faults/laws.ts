import { computeMetadataDigest, VERSION_RECORD_KEY } from '../../src/domain/content.ts';
import { renderCanonicalJson, omitKey } from '../../src/domain/json.ts';
import type { ReportChange, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { isWriteTo, MAIN, type Draft, type KeptVersion } from './calls.ts';
import type { RunRecord, Snapshot, Stage } from './stage.ts';
import type { Wanted } from './states.ts';
import { parseReport } from '../support/run.ts';

// Each law returns its violations as sentences, so that a cell shows all of them at once.

/** Returns pieces of a key that cannot be part of a digest, because they contain other than hexadecimal digits. */
function piecesOf(key: string): readonly string[] {
  const pieces = Array.from({ length: key.length - 5 }, (_, start) => key.slice(start, start + 6));
  return pieces.filter((piece) => /[^0-9a-f]/.test(piece));
}

export function keyIsHidden({ stdout, stderr, service }: RunRecord): readonly string[] {
  const shown = service.secrets.flatMap(piecesOf).filter((piece) => (stdout + stderr).includes(piece));
  return shown.length === 0 ? [] : [`the output holds ${shown.join(', ')} of the key`];
}

/** A run sends one create request for each content, and one more for each answer with 429. */
export function contentsAreSentOnce({ arrivals, service }: RunRecord): readonly string[] {
  const creates = arrivals.filter(({ request }) => service.asked(request).call === 'create');
  const sent = Object.groupBy(creates, ({ request }) =>
    contentOf({ ...service.asked(request), ...service.draftOf(request) }),
  );
  return Object.entries(sent).flatMap(([content, requests = []]) => {
    const refused = requests.filter(({ status }) => status() === 429).length;
    return requests.length <= 1 + refused ? [] : [`${requests.length} requests to create ${content}`];
  });
}

/** promptsync never creates two versions of the same content. */
export function contentsAreThereOnce({ versions }: Pick<Snapshot, 'versions'>): readonly string[] {
  const made = Object.groupBy(
    versions.filter(({ own }) => own),
    contentOf,
  );
  return Object.entries(made).flatMap(([content, several = []]) =>
    several.length <= 1 ? [] : [`${several.length} versions of ${content}`],
  );
}

/** A pinned environment serves only what it served at first or what git declares. */
export function onlyReviewedWasServed({ served, servedFirst, scene }: Stage): readonly string[] {
  const allowed = new Set([...servedFirst, ...scene.wanted.map(wantedText)]);
  return [...served].filter((one) => !allowed.has(one)).map((one) => `it served ${one}`);
}

function contentOf({ promptId, ...draft }: Draft & { readonly promptId: string }): string {
  return `${promptId} ${contentText(draft)}`;
}

/** The report is true for each prompt and each change. */
export function reportIsTrue(record: RunRecord): readonly string[] {
  return parseReport(record.stdout).prompts.flatMap((prompt) => [
    ...statusFits(prompt),
    ...refusedIsNotWritten(prompt, record),
    ...prompt.changes.flatMap((change) => changeIsTrue(prompt.id, change, record)),
  ]);
}

/** The exit code matches the report. Without a plan, promptsync writes nothing. */
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

/** promptsync writes nothing of a blocked prompt. Probing does not count. */
function refusedIsNotWritten({ id, status }: ReportPrompt, { arrivals, service }: RunRecord): readonly string[] {
  if (status !== 'blocked') return [];
  const written = arrivals.filter(({ request }) => isWriteTo(service, request, id));
  const calls = written.map(({ request }) => service.asked(request).call).filter((call) => !call.endsWith('-look'));
  return calls.map((call) => `${id} is blocked, and this was sent: ${call}`);
}

function changeIsTrue(promptId: string, change: ReportChange, record: RunRecord): readonly string[] {
  if (change.status === 'unknown') return [];
  const found = contradiction(promptId, change, record);
  return found === null ? [] : [`${promptId}: ${change.kind} is ${change.status ?? 'without a status'}, but ${found}`];
}

/** Returns how the service contradicts a reported change, or `null`. `not_made` means that this run changed nothing. */
function contradiction(promptId: string, change: ReportChange, record: RunRecord): string | null {
  const { before, after } = record;
  const done = change.status !== 'not_made';
  switch (change.kind) {
    case 'create-version': {
      const holding = after.versions.filter((version) => version.promptId === promptId && holds(version, change));
      const found = holding.filter((version) => (done ? version.id === change.version?.id : isOf(record, version)));
      return done === found.length > 0 ? null : `the service has ${found.length} such versions`;
    }
    case 'set-active': {
      const old = before.active(promptId, change.environment)?.id ?? null;
      const wanted = done && 'id' in change.after ? change.after.id : old;
      const active = after.active(promptId, change.environment)?.id ?? null;
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

function holds({ digest, metadata }: KeptVersion, change: ReportChange & { kind: 'create-version' }): boolean {
  if (digest !== change.digest) return false;
  return change.metadata_digest === undefined || change.metadata_digest === computeMetadataDigest(metadata);
}

/** Whether a request of this run created a version, and not a late request of the previous run. */
function isOf({ arrivals, service }: RunRecord, { promptId, id }: KeptVersion): boolean {
  return arrivals.some(({ request, done }) => {
    const asked = service.asked(request);
    return asked.call === 'create' && asked.promptId === promptId && done.some((one) => service.madeIn(one) === id);
  });
}

function fieldsOf(snapshot: Snapshot, promptId: string): Readonly<Record<string, string>> {
  const fields = snapshot.fields(promptId);
  return { ...fields, description: fields?.description ?? '' };
}

export type Settling = {
  /** Whether the previous run ended with exit code 0, so that nothing may be left to do. */
  readonly finished: boolean;
  /** Whether a known limit allows two versions of one content. */
  readonly twice: boolean;
  readonly hides?: boolean | undefined;
};

/** Runs again without faults if anything is left to do. Returns all differences from the state in git. */
export async function settle(stage: Stage, { finished, twice, hides }: Settling): Promise<readonly string[]> {
  const again = finished ? [] : await runAgain(stage);
  const empty = await stage.run(['sync', '--dry-run', '--exit-code', '--verbose']);
  return [
    ...again,
    ...(empty.exitCode === 0 ? [] : [`the next plan ended with ${empty.exitCode}: ${empty.stdout}`]),
    ...empty.arrivals.flatMap(({ request: { method, path } }) =>
      method === 'GET' ? [] : [`on a dry run it sent ${method} ${path}`],
    ),
    ...keyIsHidden(empty),
    ...asGitSays(stage, empty.after),
    ...(hides ? [] : adoptedStays(stage, empty.after)),
    ...(twice ? [] : contentsAreThereOnce(empty.after)),
    ...onlyReviewedWasServed(stage),
    ...(stage.kept.overlaps() === 0 ? [] : ['writes of one prompt overlap']),
  ];
}

/** Expects that one more run completes everything. */
async function runAgain(stage: Stage): Promise<readonly string[]> {
  const next = await stage.run(['sync', '--yes', '--verbose', '--format', 'json']);
  return [...ended(next), ...lawsOf(next)];
}

function ended(run: RunRecord): readonly string[] {
  return run.exitCode === 0 ? [] : [`the next run ended with ${run.exitCode}: ${messagesOf(run).join(' ')}`];
}

/** Returns the violations of the laws that hold for every run, with or without faults. */
export function lawsOf(run: RunRecord): readonly string[] {
  return [...keyIsHidden(run), ...contentsAreSentOnce(run), ...exitCodeFits(run), ...reportIsTrue(run)];
}

function asGitSays({ scene }: Stage, snapshot: Snapshot): readonly string[] {
  const serves = scene.wanted.flatMap((wanted) => {
    const { promptId, environment } = wanted;
    const served = servedText(promptId, environment, snapshot.active(promptId, environment));
    return served === wantedText(wanted) ? [] : [`git says ${wantedText(wanted)}, and in the end there is ${served}`];
  });
  const fields = snapshot.fields(MAIN);
  if (fields === null) return serves;
  const { name, description } = fields;
  const wanted = { name: 'main', description: null, ...scene.state.fields };
  const shown = JSON.stringify({ name, description });
  return shown === JSON.stringify(wanted) ? serves : [...serves, `in the end the fields are ${shown}`];
}

/** Environments keep serving the adopted versions, and not copies of them. */
function adoptedStays({ scene, first }: Stage, snapshot: Snapshot): readonly string[] {
  const environments = (scene.state.adopted ?? []).flatMap((version) => version.in ?? []);
  return environments.flatMap((environment) => {
    const [before, after] = [first, snapshot].map((one) => one.active(MAIN, environment)?.id);
    return before === after ? [] : [`${environment} was moved from ${before} to ${after}`];
  });
}

export function messagesOf({ stdout }: RunRecord): readonly string[] {
  const { problems, prompts } = parseReport(stdout);
  return [...problems, ...prompts.flatMap((prompt) => prompt.problems)].map(
    ({ code, message }) => `[${code}] ${message}`,
  );
}

/** Formats a content in one line: its text, and its metadata without the key `promptsync`. */
function contentText({ text, metadata }: Draft): string {
  return `${JSON.stringify(text)} ${renderCanonicalJson(omitKey(metadata, VERSION_RECORD_KEY))}`;
}

export function servedText(promptId: string, environment: string, version: KeptVersion | null): string {
  return `${promptId} ${environment}: ${version === null ? 'nothing' : contentText(version)}`;
}

export function wantedText({ promptId, environment, ...wanted }: Wanted): string {
  return `${promptId} ${environment}: ${contentText(wanted)}`;
}
