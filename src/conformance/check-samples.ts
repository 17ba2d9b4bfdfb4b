import { makeRequirementHint, type ServiceRequirement } from './requirements.ts';
import { digestText } from '../domain/content.ts';
import {
  type DoctorPoint,
  makeErrorPoint,
  makeOkPoint,
  makeProblemPoint,
  makeUncheckedPoint,
  makeWarningPoint,
} from '../domain/doctor-point.ts';
import { isJsonObject, isNestedDeeper, type JsonValue, renderCanonicalJson } from '../domain/json.ts';
import type { Problem } from '../problem.ts';
import { formatNumber } from '../text.ts';
import type { Words } from '../service-words.ts';
import { SAMPLE_METADATA, SAMPLE_METADATA_DEPTH, type TextSample } from './text-samples.ts';
import { READ_BACK_WAITS_MS } from '../http/retry.ts';
import type { ConformanceTarget, NewSample, SampleContent } from './conformance-target.ts';

/** Whether a service showed the effect of a write, and if so, after how many reads and how much time. */
export type Visibility<Value = unknown> =
  | { readonly kind: 'seen'; readonly value: Value; readonly reads: number; readonly milliseconds: number }
  | { readonly kind: 'never' }
  | { readonly kind: 'failed'; readonly problem: Problem };

export type SampleResult =
  | {
      readonly sample: TextSample;
      readonly created: null;
      readonly problem: Problem;
      /** False if the service refused the key, or if the response was lost. */
      readonly isContentRefused: boolean;
    }
  | {
      readonly sample: TextSample;
      readonly created: NewSample;
      /** The content of the version as each later read returned it. Empty if the service never returned it. */
      readonly stored: readonly SampleContent[];
      /** Whether the service reported the version as the newest one. */
      readonly newest: Visibility;
      /** Whether the environment served the version. */
      readonly active: Visibility;
    };

type CreatedResult = Extract<SampleResult, { readonly newest: Visibility }>;

type SampleEvidence = {
  readonly results: readonly SampleResult[];
  /** The number of a version that existed before the check. Null if the check knows none. */
  readonly earlierNumber: number | null;
  /** False if the check stopped early. The report then omits the rules that the check did not get to. */
  readonly isComplete: boolean;
};

/** Builds the points about texts, metadata, numbers, the newest version and activations. */
export function makeSamplePoints(
  { results, earlierNumber, isComplete }: SampleEvidence,
  { requirements, words }: Pick<ConformanceTarget, 'requirements' | 'words'>,
): readonly DoctorPoint[] {
  const created = results.flatMap((result): readonly CreatedResult[] => (result.created === null ? [] : [result]));
  const texts = results.map((result) => makeTextPoint(result, requirements.text, words));
  const { metadata, numbers, newest, activation } = requirements;
  if (created.length === 0) {
    const rules = isComplete ? [metadata, numbers, newest, activation] : [];
    const reason = `${words.service} returned no new version`;
    return [...texts, ...rules.map(({ point }) => makeUncheckedPoint(point, reason))];
  }
  return [
    ...texts,
    makeMetadataPoint(created, metadata, words),
    makeNumbersPoint(created, earlierNumber, numbers, words),
    makeNewestPoint(created, newest, words),
    makeActivationPoint(created, activation, words),
  ];
}

function makeTextPoint(result: SampleResult, requirement: ServiceRequirement, words: Words): DoctorPoint {
  const { service } = words;
  const { sample, created } = result;
  const name = `${requirement.point}: ${sample.name}`;
  if (created === null) {
    if (!result.isContentRefused) return makeProblemPoint(name, result.problem);
    const hint = `Ask the operator of ${service} to accept this kind of text. Until then, promptsync cannot sync prompts that contain it.`;
    return makeErrorPoint(name, result.problem.message, hint);
  }
  const received = listContents(result).map(({ text }) => text);
  const changed = received.find((text) => text !== sample.text);
  if (changed === undefined) {
    return result.stored.length === 0 ? makeUnreadPoint(name, words) : makeOkPoint(name, 'returned byte for byte');
  }
  const found = `${service} returned the text ${describeTextChange(sample.text, changed)}`;
  if (received.every((text) => digestText(text).digest === digestText(sample.text).digest)) {
    const hint = `Plans show no change, because promptsync ignores this difference. However, applications read the text exactly as ${service} returns it.`;
    return makeWarningPoint(name, found, hint);
  }
  return makeErrorPoint(name, found, makeRequirementHint(requirement, words));
}

/** Lists what the service returned: in the response to the create request, if it shows it, and in later reads. */
function listContents({ created: { content }, stored }: CreatedResult): readonly SampleContent[] {
  return content === null ? stored : [content, ...stored];
}

/** Builds the point about content that nobody could read. A response to a create request alone proves nothing. */
function makeUnreadPoint(name: string, { service }: Words): DoctorPoint {
  return makeUncheckedPoint(name, `${service} did not return the stored version`);
}

/** Returns a phrase that completes "returned the text". */
function describeTextChange(sent: string, received: string): string {
  if (received === sent.replace(/[\r\n]+$/, '')) return 'without its trailing line breaks';
  if ([sent.trim(), sent.trimEnd(), sent.trimStart()].includes(received))
    return 'without its leading or trailing whitespace';
  if (received === sent.replaceAll('\r\n', '\n')) return 'with LF instead of CRLF line breaks';
  if (received === sent.normalize('NFC')) return 'in Unicode normalization form NFC';
  const lengths = `${formatNumber(received.length)} instead of ${formatNumber(sent.length)} characters`;
  return sent.startsWith(received) ? `cut off (${lengths})` : `with changes (${lengths})`;
}

function makeMetadataPoint(
  created: readonly CreatedResult[],
  requirement: ServiceRequirement,
  words: Words,
): DoctorPoint {
  const { point } = requirement;
  const received = created.flatMap(listContents).map(({ metadata }) => metadata);
  const sent = renderCanonicalJson(SAMPLE_METADATA);
  const changed = received.find(
    (metadata) => isNestedDeeper(metadata, SAMPLE_METADATA_DEPTH) || renderCanonicalJson(metadata) !== sent,
  );
  if (changed === undefined) {
    const isUnread = created.every(({ stored }) => stored.length === 0);
    return isUnread ? makeUnreadPoint(point, words) : makeOkPoint(point, 'returned unchanged');
  }
  const found = `${words.service} ${isEmpty(changed) ? 'dropped' : 'changed'} it`;
  return makeErrorPoint(point, found, makeRequirementHint(requirement, words));
}

function isEmpty(metadata: JsonValue): boolean {
  return metadata === null || (isJsonObject(metadata) && Object.keys(metadata).length === 0);
}

function makeNumbersPoint(
  created: readonly CreatedResult[],
  earlierNumber: number | null,
  requirement: ServiceRequirement,
  words: Words,
): DoctorPoint {
  const { point } = requirement;
  const numbers = created.map((result) => result.created.number);
  const compared = earlierNumber === null ? numbers : [earlierNumber, ...numbers];
  if (compared.length < 2) return makeUncheckedPoint(point, 'there is only one version number to compare');
  const isIncreasing = compared.every((number, index) => index === 0 || number > (compared[index - 1] ?? number));
  const earlier = earlierNumber === null ? '' : ` after v${earlierNumber} from an earlier run`;
  const list = `${numbers.map((number) => `v${number}`).join(', ')}${earlier}`;
  if (isIncreasing) return makeOkPoint(point, `increasing: ${list}`);
  return makeErrorPoint(point, `not increasing: ${list}`, makeRequirementHint(requirement, words));
}

function makeNewestPoint(
  created: readonly CreatedResult[],
  requirement: ServiceRequirement,
  words: Words,
): DoctorPoint {
  const { point } = requirement;
  const worst = findWorst(created.map(({ newest }) => newest));
  if (worst.kind === 'failed') return makeFailurePoint(worst.problem, requirement);
  if (worst.kind === 'never') {
    const found = `${words.service} does not report a new version as the newest one`;
    return makeErrorPoint(point, found, makeRequirementHint(requirement, words));
  }
  if (worst.reads === 1) return makeOkPoint(point, 'reported right after creation');
  const hint = 'Expect longer waits after a lost response, because promptsync then looks for the newest version.';
  return makeWarningPoint(point, `reported only after ${formatVisibilityTime(worst.milliseconds)}`, hint);
}

/** How many times a sync reads an environment back before it reports that the activation failed. */
const SYNC_READS = READ_BACK_WAITS_MS.length + 1;

function makeActivationPoint(
  created: readonly CreatedResult[],
  requirement: ServiceRequirement,
  words: Words,
): DoctorPoint {
  const { point } = requirement;
  const worst = findWorst(created.map(({ active }) => active));
  if (worst.kind === 'failed') return makeFailurePoint(worst.problem, requirement);
  if (worst.kind === 'never') {
    const found = `the ${words.environment} did not serve the activated version within 30 s`;
    return makeErrorPoint(point, found, makeRequirementHint(requirement, words));
  }
  if (worst.reads === 1) return makeOkPoint(point, `visible after ${formatVisibilityTime(worst.milliseconds)}`);
  const found = `visible only after ${formatVisibilityTime(worst.milliseconds)}`;
  if (worst.reads > SYNC_READS) return makeErrorPoint(point, found, makeRequirementHint(requirement, words));
  const hint =
    'Expect each activation in a sync to take this long, because promptsync waits until it can read back the activated version.';
  return makeWarningPoint(point, found, hint);
}

/** Builds the point about a failed request that the service must support. */
function makeFailurePoint({ message, hint }: Problem, { point, loss }: ServiceRequirement): DoctorPoint {
  return makeErrorPoint(point, message, `${hint} Until this works, ${loss}`);
}

/** Returns a failure if there is one, and otherwise the result that took the most reads. */
function findWorst(all: readonly Visibility[]): Visibility {
  const never = all.find(({ kind }) => kind === 'never');
  const failed = all.find(({ kind }) => kind === 'failed');
  const seen = all.flatMap((one) => (one.kind === 'seen' ? [one] : []));
  const [slowest] = seen.toSorted((a, b) => b.reads - a.reads || b.milliseconds - a.milliseconds);
  return never ?? failed ?? slowest ?? { kind: 'never' };
}

function formatVisibilityTime(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
