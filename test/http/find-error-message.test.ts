import { describe, expect, test } from 'vitest';
import { findErrorMessage } from '../../src/http/find-error-message.ts';

describe('findErrorMessage', () => {
  test.each([
    [
      'findErrorMessage returns the `message` field of an error response without the surrounding spaces',
      '{"message":" No such prompt ","error":"NotFound"}',
      'No such prompt',
    ],
    [
      'findErrorMessage returns the `message` field of a nested `error` object',
      '{"error":{"code":7,"message":"bad id"}}',
      'bad id',
    ],
    ['findErrorMessage returns the `error` field if the field is a string', '{"error":"rate limited"}', 'rate limited'],
    [
      'findErrorMessage returns the `detail` field of a problem document (RFC 9457)',
      '{"title":"Conflict","detail":"locked"}',
      'locked',
    ],
    [
      'findErrorMessage lists at most three validation errors with their paths',
      JSON.stringify({ detail: ['a', 'b', 'c', 'd'].map((loc) => ({ loc: ['path', loc], msg: 'is wrong' })) }),
      'path.a: is wrong; path.b: is wrong; path.c: is wrong',
    ],
    [
      'findErrorMessage appends the validation errors to a general message',
      '{"message":"Invalid request data","error":[{"path":["labels"],"message":"Expected array"}]}',
      'Invalid request data: labels: Expected array',
    ],
    ['findErrorMessage returns null for JSON of an unknown shape', '{"code":12,"foo":{"bar":true}}', null],
    ['findErrorMessage returns null for a response that is not JSON', 'Sorry', null],
    ['findErrorMessage returns null for a deeply nested response', `${'{"error":'.repeat(9)}"x"${'}'.repeat(9)}`, null],
  ])('%s', (_, body, message) => {
    expect(findErrorMessage(body)).toBe(message);
  });
});
