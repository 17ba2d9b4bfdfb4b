import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { ProblemCode } from '../../src/problem.ts';
import { failureOf, newVersion, openTestClient, startHttpServer, wireVersion } from './support.ts';

const MIB = 1024 * 1024;

/** Writes as long as the client reads, but at most 600 MiB. */
function flood(response: ServerResponse, sent: { bytes: number }): void {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  const more = () => {
    while (sent.bytes < 600 * MIB && !response.destroyed) {
      sent.bytes += chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

const floods: readonly (readonly [number, ProblemCode, string, number])[] = [
  [200, 'service/invalid-answer', 'unknown', 48],
  [400, 'service/unexpected-status', 'rejected', 12],
];
test.each(floods)(
  'if a response with status %i never ends, the client reports %s with the effect %s within the first %i MiB',
  async (status, code, effect, most) => {
    const sent = { bytes: 0 };
    const { url } = await startHttpServer((_, response) => flood(response.writeHead(status), sent));
    const { service, calls } = openTestClient({ baseUrl: url });
    const before = process.memoryUsage().arrayBuffers;
    const failure = await failureOf(service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code }, effect });
    expect(calls).toMatchObject([{ status, attempt: 1 }]);
    expect(sent.bytes).toBeLessThan(most * MIB);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MIB);
  },
);

test('the client accepts a response just below the size limit', async () => {
  const content = 'x'.repeat(31 * MIB);
  const { url } = await startHttpServer((_, response) => response.end(JSON.stringify({ ...wireVersion, content })));
  const version = await openTestClient({ baseUrl: url }).service.createVersion('prm_1', newVersion);
  expect(version.content.text.length).toBe(31 * MIB);
});
