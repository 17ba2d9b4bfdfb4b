import { expect, test } from 'vitest';
import { makeMonth, type Month } from './several-services-month.ts';
import { SEED } from '../support/seed.ts';

const DAYS = 30;

/** Prints the counts of a month for people who read the log. */
function printCounts({ counts, countRequests }: Month): void {
  const lines = [...counts].map(([what, count]) => `${what}: ${count}`);
  const requests = [...countRequests()].map(([name, count]) => `${name} ${count}`);
  process.stdout.write(
    `A month of several services, seed ${SEED}\n${lines.join(', ')}\nrequests: ${requests.join(', ')}\n`,
  );
}

test('over a month of edits, promotions, rollbacks and drift in six services, each sync converges and no request goes to a wrong service', async () => {
  const month = await makeMonth(SEED);
  await month.syncAll(`day 0, seed ${SEED}`);
  for (let day = 1; day <= DAYS; day++) {
    await month.workInGit(day);
    await month.syncAll(`day ${day}, seed ${SEED}`);
    await month.workInServices(day);
    await month.syncAll(`evening of day ${day}, seed ${SEED}`);
  }
  printCounts(month);
  for (const what of ['edits', 'promotions', 'rollbacks', 'drifts', 'pulls']) {
    expect(month.counts.get(what), `${what}, seed ${SEED}`).toBeGreaterThan(0);
  }
});
