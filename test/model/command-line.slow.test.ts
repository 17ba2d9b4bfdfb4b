import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { handOn, startFrontFor, type FrontAnswer, type FrontRequest } from '../support/front.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, type Ran } from '../support/run.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';
import { note, type Statistics } from './situations.ts';

/** A small number, because each sequence runs the whole command line over sockets. The key appears wherever it can. */
const SEQUENCES = 3;

const IDS = ['a', 'b'] as const;
const id = fc.constantFrom(...IDS);
/** Texts that people write. Some contain the key. */
const words = fc.constantFrom('One', 'Two', 'Three', `Four ${KEY}`, `${KEY}`, `Five "${KEY}"\nand more`);

const edits = fc.record({
  step: fc.constant('edit' as const),
  id,
  text: words,
  name: fc.constantFrom('First', `Name ${KEY}`),
  metadata: fc.constantFrom({}, { model: KEY }, { [KEY]: 'x' }),
  pins: fc.constantFrom(
    { staging: 'latest' },
    { staging: 'latest', production: 1 },
    { staging: 1, production: 'git:HEAD' },
    { staging: 'version:none', production: 'git:gone' },
  ),
  message: fc.constantFrom('Edit', `Edit with ${KEY}`),
});
const theirs = fc.record({ step: fc.constant('theirs' as const), id, text: words, name: words });
const faults = fc.record({
  how: fc.constantFrom('cut', 'cut afterwards', 'error', 'forbidden', 'page', 'half', 'redirect', 'too many'),
  at: fc.nat({ max: 8 }),
  lasting: fc.boolean(),
});
const runs = fc.record({
  step: fc.constant('run' as const),
  command: fc.constantFrom(
    ['sync', '--yes'],
    ['sync', '--yes', '--base', 'HEAD~1', '--on-drift', 'fail'],
    ['plan'],
    ['status'],
  ),
  format: fc.constantFrom('text', 'json'),
  flags: fc.subarray(['--verbose', '--output'], { minLength: 0 }),
  fault: fc.option(faults, { nil: null, freq: 2 }),
});
const steps = fc.array(
  fc.oneof({ weight: 3, arbitrary: runs }, { weight: 2, arbitrary: edits }, { weight: 1, arbitrary: theirs }),
  { minLength: 8, maxLength: 14, size: 'max' },
);

type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;
type Run = Step & { readonly step: 'run' };

test('In random command sequences, no output contains the API key, and the plan is empty after each successful sync without faults', async () => {
  const statistics: Statistics = new Map();
  await fc.assert(
    fc.asyncProperty(fc.noBias(steps), (given) => playSteps(given, statistics)),
    { numRuns: SEQUENCES },
  );
  // The test proves something only if the key appeared in answers and promptsync removed it.
  expect(statistics.get('said the key')).toBeGreaterThan(0);
  expect(statistics.get('took it out')).toBeGreaterThan(0);
});

async function playSteps(given: readonly Step[], statistics: Statistics): Promise<void> {
  const service = await startTestService(IDS);
  const folder = makeRepository(workspaceFiles({ a: {}, b: {} }));
  for (const step of given) {
    if (step.step === 'edit') {
      const { step: _, id, message, ...parts } = step;
      writeFiles(folder, { [`prompts/${id}.md`]: promptText(id, parts) });
      commitAll(folder, message);
    } else if (step.step === 'theirs') {
      writeInService(service, step);
    } else {
      await playRun(folder, service, step, statistics);
    }
  }
}

function writeInService({ store }: TestService, { id, text, name }: Step & { readonly step: 'theirs' }): void {
  const made = store.createVersion(`prm_${id}`, { content: text, metadata: { by: KEY } });
  store.setActive(`prm_${id}`, { environment: 'staging', versionId: made?.id ?? '' });
  store.updatePrompt(`prm_${id}`, { name });
}

async function playRun(folder: string, service: TestService, step: Run, statistics: Statistics): Promise<void> {
  const { command, format, flags, fault } = step;
  const { environment, ...front } = await startFrontFor(service, faultyAnswers(service, fault, statistics));
  const file = join(folder, '.git', 'report');
  rmSync(file, { force: true });
  const more = flags.flatMap((flag) => (flag === '--output' ? [flag, file] : [flag]));
  const options = { environment, sleep: async () => {} };
  const ran = await run(folder, [...command, '--format', format, ...more], options);
  const said = [ran.stdout, ran.stderr, ...(flags.includes('--output') ? [readFileSync(file, 'utf8')] : [])].join('');
  expect(said).not.toContain(KEY);
  if (said.includes('[redacted]')) note(statistics, 'took it out');
  if (command[0] !== 'sync') expect(front.takeWrites()).toStrictEqual([]);
  else if (fault === null) await expectEmptyPlan(folder, ran, command, options);
}

/** Expects an empty plan after a successful sync without faults. */
async function expectEmptyPlan(
  folder: string,
  { exitCode }: Ran,
  [, , ...guards]: readonly string[],
  options: Parameters<typeof run>[2],
): Promise<void> {
  expect([0, 1, 3]).toContain(exitCode);
  if (exitCode !== 0) return;
  const again = await run(folder, ['plan', '--exit-code', ...guards], options);
  expect([again.exitCode, again.stdout]).toStrictEqual([0, expect.stringContaining('nothing to do')]);
}

/** Quotes the key in every faulty answer, as a gateway that echoes requests does. */
function faultyAnswers(service: TestService, fault: Run['fault'], statistics: Statistics) {
  let count = 0;
  return async (request: FrontRequest): Promise<FrontAnswer | null> => {
    const number = count++;
    if (fault === null || number < fault.at || (number > fault.at && !fault.lasting)) return null;
    note(statistics, 'said the key');
    if (fault.how === 'cut') throw new Error('cut');
    if (fault.how === 'cut afterwards') {
      await handOn(request, service.baseUrl);
      throw new Error('cut');
    }
    if (fault.how === 'half') {
      const { status, body } = await handOn(request, service.baseUrl);
      return { status, body: body.slice(0, body.length / 2) };
    }
    return ANSWERS[fault.how] ?? null;
  };
}

const ANSWERS: Readonly<Record<string, FrontAnswer>> = {
  error: { status: 500, body: JSON.stringify({ detail: `X-API-Key: ${KEY} is not welcome`, key: KEY }) },
  forbidden: { status: 403, body: `{"detail": "The key ${KEY} may not"}` },
  page: { status: 200, body: `<html><body>${KEY}</body></html>`, headers: { 'content-type': 'text/html' } },
  redirect: { status: 302, body: KEY, headers: { location: `https://elsewhere.example/?key=${KEY}` } },
  'too many': { status: 429, body: KEY, headers: { 'retry-after': '1' } },
};
