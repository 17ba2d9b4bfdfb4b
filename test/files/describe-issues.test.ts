import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssues, line } from '../../src/files/yaml-shape.ts';
import { parseStrictYaml } from '../../src/files/strict-yaml.ts';

const Shape = z.strictObject({
  name: line,
  size: z.int().min(1).optional(),
  mode: z.enum(['fast', 'slow']).optional(),
  parts: z.record(line, z.strictObject({ on: z.boolean() })).optional(),
  list: z.array(line).optional(),
  either: z.union([line, z.strictObject({ on: z.boolean() })], 'expected text or mapping').optional(),
});

function issuesOf(text: string) {
  const { mapping } = parseStrictYaml(text, 'x.yaml');
  const error = mapping === null ? undefined : Shape.safeParse(mapping.value).error;
  if (mapping === null || error === undefined) return [];
  return describeIssues(error, mapping, Object.keys(Shape.shape)).map(
    ({ kind, field, expected, suggestion, place }) =>
      `${kind} ${field} ${place.line}:${place.column} ${suggestion ?? expected}`,
  );
}

describe('what a mapping has wrong against its shape', () => {
  test.each([
    ['nothing', 'name: a', []],
    ['a field is missing', 'size: 1', ['missing name 1:1 expected string, received undefined']],
    ['a type', 'name: 1', ['invalid name 1:7 expected string, received number']],
    ['a number', 'name: a\nsize: 0', ['invalid size 2:7 expected number to be >=1']],
    ['a choice', 'name: a\nmode: x', ['invalid mode 2:7 expected one of "fast"|"slow"']],
    ['an empty text', 'name: ""', ['invalid name 1:7 it is empty']],
    ['a mapping', 'name: a\nparts: []', ['invalid parts 2:8 expected mapping, received list']],
    ['a list', 'name: a\nlist: {}', ['invalid list 2:7 expected list, received mapping']],
    ['deep inside', 'name: a\nparts:\n  b: {on: 1}', ['invalid parts.b.on 3:11 expected boolean, received number']],
    [
      'missing deep inside',
      'name: a\nparts:\n  b: {}',
      ['missing parts.b.on 3:6 expected boolean, received undefined'],
    ],
    ['in a list', 'name: a\nlist: [b, 1]', ['invalid list.1 2:11 expected string, received number']],
    ['none of several forms', 'name: a\neither: 1', ['invalid either 2:9 expected text or mapping']],
    ['in the simple form', 'name: a\neither: ""', ['invalid either 2:9 it is empty']],
    [
      'in the other form alone',
      'name: a\neither: {on: 1}',
      ['invalid either.on 2:14 expected boolean, received number'],
    ],
    [
      'a field that is not known in that form, and one that is missing',
      'name: a\neither: {nmae: 1}',
      ['missing either.on 2:9 expected boolean, received undefined', 'unknown either.nmae 2:10 name'],
    ],
    ['a name', 'name: a\nparts: {"": {on: true}}', ['misnamed parts. 2:9 it is empty']],
    ['a field that is not known', 'name: a\nsiez: 1', ['unknown siez 2:1 size']],
    ['and nothing like it', 'name: a\nweight: 1', ['unknown weight 2:1 ']],
    ['a field that is not known deep inside', 'name: a\nparts: {b: {on: true, x: 1}}', ['unknown parts.b.x 2:23 ']],
    [
      'several things',
      'a1: 1\nb1: 2\nsize: x',
      [
        'missing name 1:1 expected string, received undefined',
        'invalid size 3:7 expected number, received string',
        'unknown a1 1:1 ',
        'unknown b1 2:1 ',
      ],
    ],
    ['what the YAML was refused for', 'name: &a b\nsize: .nan\nlist: [!x y]', []],
  ])('%s', (_, text, expected) => {
    expect(issuesOf(text)).toEqual(expected);
  });
});
