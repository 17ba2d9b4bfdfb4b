import { describe, expect, test } from 'vitest';
import { findErrorMessage } from '../../src/service/error-message.ts';

describe('findErrorMessage', () => {
  test.each([
    ['findErrorMessage finds a message', '{"message":" No such prompt ","error":"NotFound"}', 'No such prompt'],
    ['findErrorMessage finds the message inside an error', '{"error":{"code":7,"message":"bad id"}}', 'bad id'],
    ['findErrorMessage finds an error that is a string', '{"error":"rate limited"}', 'rate limited'],
    ['findErrorMessage finds the detail of a problem document', '{"title":"Conflict","detail":"locked"}', 'locked'],
    [
      'findErrorMessage lists at most three faults with their paths',
      JSON.stringify({ detail: ['a', 'b', 'c', 'd'].map((loc) => ({ loc: ['path', loc], msg: 'is wrong' })) }),
      'path.a: is wrong; path.b: is wrong; path.c: is wrong',
    ],
    [
      'findErrorMessage adds the faults to a general message',
      '{"message":"Invalid request data","error":[{"path":["labels"],"message":"Expected array"}]}',
      'Invalid request data: labels: Expected array',
    ],
    ['findErrorMessage finds nothing in JSON of an unknown shape', '{"code":12,"foo":{"bar":true}}', null],
    ['findErrorMessage finds nothing in a response that is not JSON', 'Sorry', null],
    ['findErrorMessage finds nothing in a deeply nested response', `${'{"error":'.repeat(9)}"x"${'}'.repeat(9)}`, null],
  ])('%s', (_, body, message) => {
    expect(findErrorMessage(body)).toBe(message);
  });
});
