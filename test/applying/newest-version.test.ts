import { describe, expect, test } from 'vitest';
import { renderVersionRecord } from '../../src/providers/four-call/version-record.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { type Backend, backends } from '../doubles/backends.ts';
import { content, entry, file, parseFile, parseVersion } from '../planning/support.ts';
import { addManagedVersion, leaveVersion, startWithTextOne, shortenCalls, formatOutcome, sync } from './support.ts';

const staging = { staging: 'latest' };
/** Rows `title: 'VERSIONS | FILE | CALLS | OUTCOME'`, with `nothing` for no further versions. */
const rows = {
  'promptsync adopts the newest version if it is managed and matches the text of the file':
    'Two(1:One) | Two staging=latest | look ver_2, track ver_2, staging ver_2 | applied: adopted made',
  'promptsync adopts the newest version even if the file pins only the number of an older version':
    'Two(1:One) | Two staging=1 | look ver_2, track ver_2 | applied: adopted',
  'promptsync does not adopt the newest version if its ledger omits the tracked version':
    'Two | Two staging=latest | look ver_2, create "Two", track ver_3, staging ver_3 | applied: made made',
  'If the newest version is foreign, promptsync does not adopt it for a latest pin even if its text matches the file':
    '~Two | Two staging=latest | look ver_2, create "Two", track ver_3, staging ver_3 | applied: made made',
  'promptsync probes and adopts an older version that is listed in the ledger of the newest version': `Two(1:One) Three(2:Two,1:One) | Two staging=latest | look ver_3, track ver_3, look ver_2, staging ver_2
      | applied: adopted made`,
  'promptsync does not activate a version whose content differs from its entry in the ledger of the newest version': `~Theirs Three(2:Two,1:One) | Two staging=latest | look ver_3, track ver_3, look ver_2
      | failed: not_made not_made apply/other-content`,
  'promptsync ignores the ledger of the newest version if that ledger omits the tracked version':
    'Two Three(2:Two) | Two staging=latest | look ver_3, create "Two", track ver_4, staging ver_4 | applied: made made',
  'A prompt fails if the ledger entry for its text refers to a version that does not exist': `Theirs(7:Two,1:One) | Two staging=latest | look ver_2, track ver_2, set p1 promptsync-look ver_7
      | failed: not_made not_made service/version-not-found`,
  'promptsync adopts the newest version for a git pin and creates another version for a latest pin': `Old(1:One) | Two staging=latest production=git:v1
      | look ver_2, track ver_2, create "Two", track ver_3, staging ver_3, production ver_2
      | applied: adopted made made made`,
  'The tracking environment serves a newly created version even if promptsync adopts an older version for a latest pin': `Two(1:One) | Two staging=latest production=git:v1
      | look ver_2, track ver_2, create "Old", track ver_3, staging ver_2, production ver_3
      | applied: made adopted made made`,
  'promptsync probes the newest version only once even if it creates two versions': `~Theirs | Two staging=latest production=git:v1
      | look ver_2, create "Old", track ver_3, create "Two", track ver_4, staging ver_4, production ver_3
      | applied: made made made made`,
  'If the newest version is foreign, promptsync creates a single version for two pins with the same text': `~Two{"model":"x"} | Two staging=latest production=git:same
      | look ver_2, create "Two", track ver_3, staging ver_3, production ver_3 | applied: made made made`,
  'If the tracking environment serves a foreign version, promptsync creates a version instead of adopting a foreign draft':
    'promptsync=~Theirs ~Draft | Draft staging=1 | look ver_3, create "Draft", track ver_4 | applied: made',
  'If a file pins the number of a newer managed version, the tracking environment moves to that version':
    'Two(1:One) | One staging=latest production=2 | look ver_2, track ver_2, production ver_2 | applied: made',
  'If a file pins the number of a newer foreign version, the tracking environment does not move to that version':
    '~Theirs | One production=2 | look ver_2, production ver_2 | applied: made',
  'If promptsync finds two managed versions newer than the tracked one, the tracking environment moves to the newest': `Two(1:One) qa=Three(1:One) | One staging=latest qa=3 production=version:ver_2
      | look ver_2, track ver_3, production ver_2 | applied: made`,
  'promptsync finds a pinned version number in the ledger of a probed version':
    '~Theirs Three(~2:Theirs,1:One) | Three production=2 | look ver_3, track ver_3, look ver_2, production ver_2 | applied: made',
  'promptsync probes a version that no ledger lists only once before activating it in two environments':
    '~Theirs | One qa=version:ver_2 production=version:ver_2 | look ver_2, qa ver_2, production ver_2 | applied: made made',
  'promptsync probes a version from a ledger only once before activating it in two environments':
    'promptsync=Two(1:One) | One qa=latest production=latest | look ver_1, qa ver_1, production ver_1 | applied: made made',
  'promptsync creates a version for a file without pins and activates it only in the tracking environment':
    'nothing | Two | create "Two", track ver_2 | applied: made',
};
const refs = { v1: content('Old'), same: content('Two', { model: 'x' }) };

describe.each(backends)('versions that promptsync has not read yet (backend: %s)', (_, start) => {
  test.each(Object.entries(rows))('%s', async (_title, row) => {
    const [versions = '', words = '', calls = '', outcome = ''] = row.split(/\s+\|\s+/);
    const service = await startWithTextOne(start);
    if (versions !== 'nothing') versions.split(' ').forEach((word) => leaveVersion(service, word));
    const wanted = file(parseFile(words));
    const { lines, outcomes } = await sync(service, [wanted], { refs });
    expect([shortenCalls(lines).join(', '), outcomes.map(formatOutcome)]).toStrictEqual([calls, [outcome]]);
    if (outcome.startsWith('applied')) expect((await sync(service, [wanted], { refs })).lines).toStrictEqual([]);
  });

  test('promptsync creates no baseline if the newest version is managed, even if its text differs from the file', async () => {
    const service = await start();
    leaveVersion(service, 'staging=~One');
    leaveVersion(service, 'Two');
    const { lines, outcomes } = await sync(service, [file({ text: 'One', pins: { staging: 1 } })]);
    expect(shortenCalls(lines)).toStrictEqual(['look ver_2', 'track ver_2']);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: adopted']);
  });

  test('promptsync adopts an inactive managed version if it is the only version of the prompt', async () => {
    for (const pins of [staging, {}]) {
      const service = await start();
      const left = addManagedVersion(service, 'Two');
      expect((await sync(service, [file({ text: 'Two', pins })])).created).toStrictEqual([]);
      expect(service.serves('p1', 'promptsync')).toStrictEqual([left, 'Two']);
    }
  });
});

describe('a probe of the newest version', () => {
  const wanted = file({ text: 'Two', pins: staging });

  test('In a new ledger, content that promptsync read takes precedence over entries from the ledger of the newest version', async () => {
    const service = await startWithTextOne();
    addManagedVersion(service, 'Theirs', [entry(1, 'Not what it holds'), entry(9, 'Nine')]);
    const { created } = await sync(service, [wanted]);
    expect(created[0]?.stamp.ledger.map(({ id, digest }) => [id, digest])).toStrictEqual([
      ['ver_9', content('Nine').digest],
      ['ver_2', content('Theirs').digest],
      ['ver_1', content('One').digest],
    ]);
  });

  test('promptsync creates no version if it fails to activate the newest version in the tracking environment', async () => {
    const service = await startWithTextOne();
    const newest = addManagedVersion(service, 'Three', [entry(1, 'One')]);
    const before = (line: string) => {
      if (line === `set p1 promptsync ${newest}`)
        throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'rejected');
    };
    const { lines, outcomes } = await sync(service, [wanted], { hooks: { before } });
    expect(shortenCalls(lines)).toStrictEqual([`look ${newest}`, `set p1 promptsync ${newest}`]);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: not_made not_made service/timeout']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/^Setting "promptsync" to v2: The service did not/);
  });

  test('A prompt fails if the service reports a newest version that does not exist', async () => {
    const service = await startWithTextOne();
    const namingMissingVersion: Backend = {
      ...service,
      readPrompt: async (...sent) => ({ ...(await service.readPrompt(...sent)), latestVersionId: 'ver_gone' }),
    };
    const { lines, outcomes } = await sync(namingMissingVersion, [wanted]);
    expect(lines).toStrictEqual(['set p1 promptsync-look ver_gone']);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: not_made not_made apply/newest-unreadable']);
    expect(outcomes[0]?.problems[0]?.message).toContain('The service listed "ver_gone" as the newest version');
  });
});

test('promptsync does not activate a version with unreviewed metadata until a reviewed plan shows that version', async () => {
  const service = await startWithTextOne();
  const record = renderVersionRecord(parseVersion('1:Two{"model":"x"}(1:One)')!.record!);
  service.addVersion('p1', { text: 'Two', metadata: { model: 'x', promptsync: record } });
  const two = file({ text: 'Two', pins: staging });
  const { plan } = await sync(service, [two], { guards: { maxChanges: { kind: 'count', count: 0 } } });
  const reviewed = { guards: { expectedPlan: plan.digest } };
  const { outcomes } = await sync(service, [two], reviewed);
  expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: adopted not_made apply/unreviewed-metadata']);
  expect(service.serves('p1', 'staging')?.[1]).toBe('One');
  const again = await sync(service, [two], reviewed);
  expect(again.outcomes.map(formatOutcome)).toStrictEqual(['blocked: not_made guard/stale-plan']);
  const shown = await sync(service, [two], { guards: { expectedPlan: again.plan.digest } });
  expect(shown.outcomes.map(formatOutcome)).toStrictEqual(['applied: made']);
});
