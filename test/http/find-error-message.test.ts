import { expect, test } from 'vitest';
import { findErrorMessage } from '../../src/http/find-error-message.ts';

test.each([
  ['{"message":" No such prompt ","error":"NotFound"}', 'No such prompt'],
  ['{"error":{"code":7,"message":"bad id"}}', 'bad id'],
  ['{"error":"rate limited"}', 'rate limited'],
  ['{"title":"Conflict","detail":"locked"}', 'locked'],
  [
    JSON.stringify({ detail: ['a', 'b', 'c', 'd'].map((loc) => ({ loc: ['path', loc], msg: 'is wrong' })) }),
    'path.a: is wrong; path.b: is wrong; path.c: is wrong',
  ],
  [
    '{"message":"Invalid request data","error":[{"path":["labels"],"message":"Expected array"}]}',
    'Invalid request data: labels: Expected array',
  ],
  ['{"code":12,"foo":{"bar":true}}', null],
  ['Sorry', null],
  [`${'{"error":'.repeat(9)}"x"${'}'.repeat(9)}`, null],
])('findErrorMessage finds in the response %s the message %j', (body, message) => {
  expect(findErrorMessage(body)).toBe(message);
});
