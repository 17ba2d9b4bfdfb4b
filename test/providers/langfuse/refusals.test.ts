import { expect, test } from 'vitest';
import {
  interpretCreateRefusal,
  interpretLabelRefusal,
  interpretReadRefusal,
  interpretServedRefusal,
} from '../../../src/providers/langfuse/refusals.ts';

type Interpreted = ReturnType<typeof interpretReadRefusal>;

/** Formats a refusal as its code and its effect. Null means that the status is interpreted as for every service. */
const format = (refusal: Interpreted) => refusal && `${refusal.problem.code} ${refusal.effect}`;
const body = (message: string) => JSON.stringify({ message, error: 'Error' });

const REQUESTS: Readonly<Record<string, (status: number, text: string) => Interpreted>> = {
  create: interpretCreateRefusal,
  label: (status, text) => interpretLabelRefusal(7, status, text),
  read: interpretReadRefusal,
  'served by number': (status, text) => interpretServedRefusal(7, status, text),
  'served by label': (status, text) => interpretServedRefusal(null, status, text),
};

test.each<[request: string, status: number, message: string, expected: string | null]>([
  ['create', 400, "Failed to create prompt 'a' due to unique constraint failure.", 'langfuse/concurrent-version'],
  ['create', 400, 'Previous versions have different prompt type. Create a new', 'langfuse/concurrent-version'],
  ['create', 400, 'Prompt dependency not found: z - label staging', 'langfuse/missing-part'],
  ['create', 400, 'Not now', 'langfuse/refused'],
  ['create', 404, 'Not now', 'langfuse/refused'],
  ['create', 409, 'unique constraint', 'langfuse/refused'],
  ['label', 400, 'Not now', 'langfuse/refused'],
  ['label', 404, 'Not now', 'langfuse/refused'],
  ['read', 400, 'Not now', 'langfuse/refused'],
  ['read', 404, 'Not now', null],
  ['read', 409, 'Not now', 'langfuse/refused'],
  ['served by number', 404, 'Not now', null],
  ['served by number', 409, 'Not now', 'langfuse/composition-fails'],
  ['served by label', 409, 'Not now', 'langfuse/refused'],
])('the response to a request (%s) with the status %i and the message "%s" means %s', (request, ...row) => {
  const [status, message, expected] = row;
  expect(format(REQUESTS[request]?.(status, body(message)) ?? null)).toBe(expected && `${expected} rejected`);
});

test('A 409 response to a move of labels is a warning, because the labels may have moved', () => {
  const refusal = interpretLabelRefusal(7, 409, body('Circular'));
  expect(refusal).toMatchObject({ effect: 'unknown', problem: { severity: 'warning' } });
  expect(refusal?.problem.message).toBe('Langfuse cannot resolve the composition tags of v7: "Circular"');
});

test.each([401, 403, 408, 425, 429])('Langfuse responds with the status %i like every service', (status) => {
  for (const interpret of Object.values(REQUESTS)) expect(interpret(status, body('Not now'))).toBeNull();
});

test('A 400 response without a message of Langfuse is interpreted as for every service', () => {
  for (const interpret of Object.values(REQUESTS)) expect(interpret(400, '<html>')).toBeNull();
});

test('The problem for a refused request quotes Langfuse, and its hint does not mention the base URL', () => {
  const { problem } = interpretCreateRefusal(409, body('Not now')) ?? {};
  expect(problem?.message).toBe('Langfuse rejected the request (409): "Not now"');
  expect(problem?.hint).not.toMatch(/base.?url/i);
});

test('The problem for a missing part names the part, even if its name is long', () => {
  const part = `long/${'x'.repeat(300)}`;
  const refusal = interpretCreateRefusal(400, body(`Prompt dependency not found: ${part} - label staging`));
  expect(refusal?.problem.message).toContain(`"${part}" (label staging)`);
  expect(refusal?.problem.hint).toContain('Correct the');
});
