import type { Config } from '../../workspace/config.ts';
import { BASE_URL_VARIABLE, getProviderDescriptor, getProviderWords } from '../../workspace/service-settings.ts';
import type { Workspace } from '../../desired-state/open-workspace.ts';
import {
  type DoctorPoint,
  makeErrorPoint,
  makeOkPoint,
  makeProblemPoint,
  makeUncheckedPoint,
  makeWarningPoint,
} from '../../domain/doctor-point.ts';
import { findProxy, isPlainHttp } from '../../domain/network.ts';
import { TRACKING_ENVIRONMENT } from '../../domain/policy.ts';
import { PLACEHOLDER_ID, type PromptFile } from '../../domain/prompt-file.ts';
import type { Provider } from '../../providers/provider-interface.ts';
import type { ServedPrompt } from '../../domain/served-prompt.ts';
import type { System } from '../../domain/system.ts';
import { type Problem, type ProblemCode, toProblem, wordProblem } from '../../problem.ts';
import type { CallReport } from '../../http/connection.ts';
import type { Words } from '../../service-words.ts';
import { prepareService, type ServiceOptions } from '../../run/open-service.ts';
import { listKnownEnvironments } from '../../run/require-environment.ts';

/** Checks the configured service's address, connection, keys and first prompt. Sends only GET requests. */
export async function examineService(
  { config, allFiles }: Workspace,
  options: ServiceOptions,
  system: System,
): Promise<readonly DoctorPoint[]> {
  if (config === null) return [makeUncheckedPoint('address', 'the configuration is not valid')];
  const words = getProviderWords(config);
  const calls: CallReport[] = [];
  const onCall = (call: CallReport): void => {
    calls.push(call);
    options.onCall?.(call);
  };
  const prepared = await prepareService({ config, files: allFiles, allFiles, repository: null }, system, { onCall });
  if (!prepared.isSuccess) return examineWithoutAccess(config, prepared.problems, system);
  const { location, opening, name, close } = prepared.value;
  const opened = await getProviderDescriptor(location).open(opening);
  try {
    const readings = await readFirstPrompt(opened.provider, config, allFiles);
    if (location.kind === 'embedded') {
      const response = makeResponsePoint(findAnswer(calls), readings, words);
      return [makeOkPoint('address', name), response, ...makePromptPoints(readings, words)];
    }
    return [
      ...makeAddressPoints(location.baseUrl, { calls, readings, words }, system),
      makeKeyPoint(readings, opening.connection.keySources ?? [], words),
      ...makePromptPoints(readings, words),
    ];
  } finally {
    await opened.close().then(close);
  }
}

/** Builds the points for a service whose address or key is missing. promptsync then sends no request. */
function examineWithoutAccess(config: Config, problems: readonly Problem[], system: System): readonly DoctorPoint[] {
  const { service } = config;
  const words = getProviderWords(config);
  const worded = problems.map((problem) => wordProblem(problem, words));
  if (service?.kind !== 'remote') return worded.map((problem) => makeProblemPoint('address', problem));
  const reason = 'the key is missing or invalid';
  return [
    ...makeAddressPoints(service.baseUrl, { calls: [], readings: { kind: 'unread', reason }, words }, system),
    ...worded.map((problem) => makeProblemPoint('key', problem)),
    makeUncheckedPoint('prompt', reason),
  ];
}

/** The result of reading the first prompt in an environment. `problem` is in the words of the provider. */
type EnvironmentReading = { readonly environment: string } & (
  | { readonly kind: 'served'; readonly served: ServedPrompt | null }
  | { readonly kind: 'failed'; readonly problem: Problem }
);

type FirstPromptReadings =
  | { readonly kind: 'read'; readonly key: string; readonly readings: readonly EnvironmentReading[] }
  | { readonly kind: 'unread'; readonly reason: string };

/** Without a prompt file, lists the prompts if the service can. Both requests check the connection and the key. */
async function readFirstPrompt(
  provider: Provider,
  config: Config,
  files: readonly PromptFile[],
): Promise<FirstPromptReadings> {
  const file = files.find(({ id }) => id !== PLACEHOLDER_ID);
  const key = file?.key ?? '';
  const environments = listKnownEnvironments(config, files);
  const words = getProviderWords(config);
  if (file === undefined) {
    const { list } = provider;
    if (list === null) return { kind: 'unread', reason: 'no prompt file has a real prompt id yet' };
    // Only the success of the request matters.
    const reading = await readEnvironment('', words, () => list().then(() => null));
    return { kind: 'read', key, readings: [reading] };
  }
  const readings: EnvironmentReading[] = [];
  for (const environment of environments.length === 0 ? [TRACKING_ENVIRONMENT] : environments) {
    const reading = await readEnvironment(environment, words, () => provider.readServed(file.id, environment));
    readings.push(reading);
    // The other environments would fail in the same way, each of them after several retries.
    if (reading.kind === 'failed' && !ANSWERED_CODES.includes(reading.problem.code)) break;
  }
  return { kind: 'read', key, readings };
}

async function readEnvironment(
  environment: string,
  words: Words,
  read: () => Promise<ServedPrompt | null>,
): Promise<EnvironmentReading> {
  try {
    return { environment, kind: 'served', served: await read() };
  } catch (error) {
    return { environment, kind: 'failed', problem: wordProblem(toProblem(error), words) };
  }
}

/** The problems that show that the service has understood and answered a request. */
const ANSWERED_CODES: readonly ProblemCode[] = ['service/not-authorised', 'service/prompt-not-found'];

type ServiceEvidence = {
  readonly calls: readonly CallReport[];
  readonly readings: FirstPromptReadings;
  readonly words: Words;
};

function makeAddressPoints(
  baseUrl: string,
  { calls, readings, words }: ServiceEvidence,
  { environment }: System,
): readonly DoctorPoint[] {
  const url = new URL(baseUrl);
  const isFromVariable = environment[BASE_URL_VARIABLE] === baseUrl;
  const answer = findAnswer(calls);
  const problem = findFirstProblem(readings);
  return [
    makeOkPoint('address', isFromVariable ? `${baseUrl} (from ${BASE_URL_VARIABLE})` : baseUrl),
    makeTlsPoint(url, { answer, problem, words }, environment),
    makeProxyPoint(url, environment),
    makeResponsePoint(answer, readings, words),
  ];
}

function findAnswer(calls: readonly CallReport[]): CallReport | undefined {
  return calls.find(({ status }) => status !== null);
}

function findFirstProblem(readings: FirstPromptReadings): Problem | null {
  const [first] = readings.kind === 'read' ? readings.readings : [];
  return first?.kind === 'failed' ? first.problem : null;
}

/** Matches the error codes that Node.js reports when it rejects a certificate. */
const CERTIFICATE_CODES = /\b(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|UND_ERR_PRX_TLS)/;

type ConnectionEvidence = {
  readonly answer: CallReport | undefined;
  readonly problem: Problem | null;
  readonly words: Words;
};

function makeTlsPoint(
  url: URL,
  { answer, problem, words }: ConnectionEvidence,
  environment: System['environment'],
): DoctorPoint {
  const name = 'TLS';
  if (isPlainHttp(url)) {
    const found = 'not used, so anyone on the network can read the key';
    return makeWarningPoint(name, found, 'Use an HTTPS address, unless the network is private.');
  }
  if (url.protocol === 'http:') return makeOkPoint(name, 'not needed because the address is on this machine');
  // Node.js then accepts every certificate, so an answer proves nothing.
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const found = 'certificates are not checked because `NODE_TLS_REJECT_UNAUTHORIZED` is 0';
    const hint =
      'Remove this variable. Without certificate checks, anyone on the network can read the key. To trust a private certificate authority, set `NODE_EXTRA_CA_CERTS` to the path of its certificate.';
    return makeWarningPoint(name, found, hint);
  }
  if (answer !== undefined) return makeOkPoint(name, 'the certificate is valid');
  if (problem !== null && CERTIFICATE_CODES.test(problem.message)) return makeProblemPoint(name, problem);
  return makeUncheckedPoint(name, `${words.service} did not respond`);
}

function makeProxyPoint(url: URL, environment: System['environment']): DoctorPoint {
  const proxy = findProxy(url, environment);
  if (proxy === null) return makeOkPoint('proxy', 'none');
  const { variable, host } = proxy;
  if (host !== null) return makeOkPoint('proxy', `${host} (from ${variable})`);
  const hint = `Set \`${variable}\` to an address such as \`http://proxy.example.com:3128\`.`;
  return makeErrorPoint('proxy', `${variable} does not contain a valid address`, hint);
}

/** The response time, in milliseconds, above which a sync of many prompts is slow. */
const SLOW_RESPONSE_MS = 2_000;

function makeResponsePoint(
  answer: CallReport | undefined,
  readings: FirstPromptReadings,
  { service }: Words,
): DoctorPoint {
  const name = 'response';
  if (readings.kind === 'unread') return makeUncheckedPoint(name, readings.reason);
  const problem = findFirstProblem(readings);
  if (problem !== null && !ANSWERED_CODES.includes(problem.code)) return makeProblemPoint(name, problem);
  if (answer === undefined) return makeUncheckedPoint(name, 'promptsync did not send a request');
  const milliseconds = Math.round(answer.milliseconds);
  const found = `status ${answer.status} after ${milliseconds} ms`;
  if (milliseconds < SLOW_RESPONSE_MS) return makeOkPoint(name, found);
  const hint = `Find out why ${service} or the network is slow. A sync sends several requests for each prompt that it changes.`;
  return makeWarningPoint(name, found, hint);
}

function makeKeyPoint(readings: FirstPromptReadings, keySources: readonly string[], { service }: Words): DoctorPoint {
  const name = 'key';
  if (readings.kind === 'unread') return makeUncheckedPoint(name, readings.reason);
  if (readings.readings.some(({ kind }) => kind === 'served')) {
    return makeOkPoint(name, `accepted: ${keySources.join(' and ')}`);
  }
  const problem = findFirstProblem(readings);
  if (problem?.code === 'service/not-authorised') return makeProblemPoint(name, problem);
  return makeUncheckedPoint(name, `${service} did not return a prompt`);
}

/** Builds one point for each environment. If all of them failed in the same way, builds only one point. */
function makePromptPoints(prompt: FirstPromptReadings, { service }: Words): readonly DoctorPoint[] {
  const name = 'prompt';
  if (prompt.kind === 'unread') return [makeUncheckedPoint(name, prompt.reason)];
  const { key, readings } = prompt;
  const problem = findFirstProblem(prompt);
  const hasSameProblem = (reading: EnvironmentReading): boolean =>
    reading.kind === 'failed' && reading.problem.message === problem?.message;
  if (problem !== null && readings.every(hasSameProblem)) {
    // Report only a missing prompt here. The points about the response and the key already report all other problems.
    if (problem.code === 'service/prompt-not-found') return [makeProblemPoint(name, problem)];
    return [makeUncheckedPoint(name, `${service} did not return a prompt`)];
  }
  if (key === '') return [makeUncheckedPoint(name, 'the workspace has no prompt files')];
  return readings.map((reading) => makeEnvironmentPoint(key, reading));
}

function makeEnvironmentPoint(key: string, reading: EnvironmentReading): DoctorPoint {
  const name = `prompt in "${reading.environment}"`;
  if (reading.kind === 'failed') return makeProblemPoint(name, reading.problem);
  const { served } = reading;
  const version = served === null ? 'no version is active' : `version ${served.number} is active`;
  return makeOkPoint(name, `"${key}": ${version}`);
}
