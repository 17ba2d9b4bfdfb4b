import { expect, test } from 'vitest';
import {
  CreateVersionShape,
  PromptShape,
  servicePaths,
  SetActiveResponseShape,
  SetActiveShape,
  UpdatePromptShape,
  VersionShape,
} from '../../src/providers/four-call/api-shapes.ts';
import { readPage } from './pages.ts';
import { blocksIn } from './steps.ts';

const PAGE = readPage('docs/how-to/connect-your-service.md');

test('the JSON examples on the page about the interface match what promptsync sends and reads', () => {
  const examples = blocksIn(PAGE).flatMap(({ language, text }) => (language === 'json' ? [JSON.parse(text)] : []));
  const shapes = [
    PromptShape,
    CreateVersionShape,
    VersionShape,
    SetActiveShape,
    SetActiveResponseShape,
    UpdatePromptShape,
  ];
  expect(examples).toHaveLength(shapes.length);
  for (const [index, shape] of shapes.entries()) expect(shape.strict().parse(examples[index])).toEqual(examples[index]);
});

test('the page about the interface names the method and the path of each call', () => {
  const path = servicePaths.prompt('');
  for (const call of [`GET ${path}{prompt_id}?environment=`, `PATCH ${path}{prompt_id}\``])
    expect(PAGE).toContain(call);
  for (const what of ['versions', 'set-active']) expect(PAGE).toContain(`\`POST ${path}{prompt_id}/${what}\``);
});
