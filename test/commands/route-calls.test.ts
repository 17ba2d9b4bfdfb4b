import { expect, test } from 'vitest';
import { routeCalls } from '../../src/commands/services/route-calls.ts';
import { ServiceError, type PromptService } from '../../src/domain/prompt-service.ts';
import { contentDigest } from '../../src/domain/digest.ts';

/** Fails every call with its own name and what it was asked for. */
function refusing(name: string): PromptService {
  const refuse = (call: string) => (promptId: string) => Promise.reject(new Error(`${name} ${call} ${promptId}`));
  return {
    readPrompt: refuse('read'),
    createVersion: refuse('create'),
    updatePrompt: refuse('update'),
    setActive: refuse('set'),
  };
}

const routed = routeCalls(
  new Map([
    ['prm_a', refusing('eu')],
    ['prm_b', refusing('us')],
  ]),
);
const stamp = { digest: contentDigest('x'), operation: 'o', ledger: [] };
const version = { text: 'x', metadata: {}, stamp };

const CALLS: Readonly<Record<string, (promptId: string) => Promise<unknown>>> = {
  read: (id) => routed.readPrompt(id, 'staging'),
  create: (id) => routed.createVersion(id, version),
  update: (id) => routed.updatePrompt(id, { name: 'N' }),
  set: (id) => routed.setActive(id, 'staging', 'ver_1'),
};

test.each(Object.entries(CALLS))('%s goes to the service of the prompt', async (name, call) => {
  await expect(call('prm_a')).rejects.toThrow(`eu ${name} prm_a`);
  await expect(call('prm_b')).rejects.toThrow(`us ${name} prm_b`);
});

test.each(Object.entries(CALLS))('%s of a prompt that no file names is sent nowhere', async (_, call) => {
  const failure: unknown = await call('prm_c').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServiceError);
  expect(failure).toMatchObject({ effect: 'not-sent', problem: { code: 'internal/unexpected' } });
});
