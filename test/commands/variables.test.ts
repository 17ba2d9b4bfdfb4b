import { describe, expect, test } from 'vitest';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { begin, PATH, PROMOTION, told, type Scene } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';

const STRICT = `${CONFIG}variables: strict\n`;
const SYNC = ['sync', '--yes'] as const;

/** Staging serves `Hi {{name}}.`, and the file says something else; without git, which has no part. */
async function ready(text: string, config = STRICT): Promise<Scene> {
  const scene = await begin({ text }, { config, makeFolder: makeWorkspace });
  scene.make(['Hi {{name}}.']);
  scene.activate('staging', 1);
  return scene;
}

/** The prompt's file with a line that allows a change of variables. */
function allow({ folder }: Scene, parts: PromptParts): void {
  const text = promptText('greeting', parts).replace('\n---\n', '\nallow_breaking: true\n---\n');
  writeFiles(folder, { [PATH]: text });
}

describe('variables: strict', () => {
  test.each<[string, string, string]>([
    ['other words are written', 'Hello {{ name }}!', 'exit 0, greeting applied'],
    ['a variable more is refused', 'Hi {{name}} {{surname}}.', 'exit 3, greeting blocked guard/breaking'],
    ['a variable less is refused', 'Hi.', 'exit 3, greeting blocked guard/breaking'],
    ['another name is refused', 'Hi {{first}}.', 'exit 3, greeting blocked guard/breaking'],
  ])('%s', async (_, text, expected) => {
    const scene = await ready(text);
    expect(told(await scene.runJson(...SYNC))).toBe(expected);
    expect(scene.service.takeWrites().length > 0).toBe(expected.startsWith('exit 0'));
  });

  test('a plan refuses alike, at the place of the pin, and names what changes', async () => {
    const { runJson: plan } = await ready('Hi {{first}}.');
    const { exitCode, report } = await plan('plan', '--exit-code');
    expect(exitCode).toBe(3);
    expect(report.prompts[0]?.problems).toMatchObject([
      {
        code: 'guard/breaking',
        path: PATH,
        line: 5,
        message: expect.stringContaining('{{first}} is added in "staging"; {{name}} is removed in "staging"'),
      },
    ]);
  });

  test('without it a change is a note and nothing more', async () => {
    const scene = await ready('Hi {{first}}.', CONFIG);
    const plan = await scene.run('plan');
    expect(plan.stdout).toContain('the variable {{first}} is added');
    expect(told(await scene.runJson(...SYNC))).toBe('exit 0, greeting applied');
  });

  test('does not stop other prompts', async () => {
    const others = { refund: { text: 'R' } };
    const scene = await begin({ text: 'Hi.' }, { config: STRICT, makeFolder: makeWorkspace, others });
    scene.make(['Hi {{name}}.']);
    scene.activate('staging', 1);
    expect(told(await scene.runJson(...SYNC))).toBe('exit 3, greeting blocked guard/breaking, refund applied');
  });

  test('a first text may have any', async () => {
    const scene = await begin({ text: 'Hi {{name}}.' }, { config: STRICT, makeFolder: makeWorkspace });
    expect(told(await scene.runJson(...SYNC))).toBe('exit 0, greeting applied');
  });

  test('a change of pins is a change of variables as well', async () => {
    const scene = await ready('Hi.', STRICT);
    scene.make(['Hi.']);
    scene.write({ text: 'Hi.', pins: { staging: 1, production: 1 } });
    expect(told(await scene.runJson(...SYNC))).toBe('exit 0, greeting applied');
    scene.activate('staging', 2);
    expect(told(await scene.runJson('plan'))).toBe('exit 3, greeting blocked guard/breaking');
  });

  test('a version never read is refused where git cannot show it either', async () => {
    const scene = await ready('Hi {{name}}.');
    scene.make(['Two {{name}}.', 'Three {{name}}.']);
    scene.write({ text: 'Hi {{name}}.', pins: { staging: 2 } });
    expect(told(await scene.runJson('plan'))).toBe('exit 3, greeting blocked guard/unknown-variables');
    allow(scene, { text: 'Hi {{name}}.', pins: { staging: 2 } });
    expect(told(await scene.runJson(...SYNC))).toBe('exit 0, greeting applied');
    expect(scene.serves('staging')).toBe('v2');
  });

  test('a version that nobody knows is looked at, and judged before it goes live', async () => {
    const scene = await ready('Hi {{name}}.');
    const id = scene.service.store.createVersion('prm_greeting', { content: 'Theirs.' })!.id;
    scene.write({ text: 'Hi {{name}}.', pins: { staging: `version:${id}` } });
    expect(told(await scene.runJson('plan'))).toBe('exit 0, greeting pending');
    const ran = await scene.runJson(...SYNC);
    expect(told(ran)).toBe('exit 3, greeting blocked guard/breaking');
    expect(scene.serves('staging')).toBe('v1');
  });

  test('promote and rollback refuse what a sync would', async () => {
    const config = PROMOTION + 'variables: strict\n';
    const scene = await begin({ text: 'Two.', pins: { staging: 'latest', production: 1 } }, { config });
    scene.make(['One {{a}}.', 'Two.']);
    scene.activate('staging', 2);
    scene.activate('production', 1);
    const before = scene.read();
    const words = ['promote', 'greeting', '--to', 'production'];
    expect(told(await scene.runJson(...words))).toBe('exit 3, greeting blocked guard/breaking');
    expect(scene.read()).toBe(before);
    allow(scene, { text: 'Two.', pins: { staging: 'latest', production: 1 } });
    expect(told(await scene.runJson(...words))).toBe('exit 0, greeting applied');
  });
});

describe('allow_breaking', () => {
  test('lets a change through that is meant, and is needless from then on', async () => {
    const scene = await ready('Hi {{first}}.');
    allow(scene, { text: 'Hi {{first}}.' });
    expect(told(await scene.runJson(...SYNC))).toBe('exit 0, greeting applied');
    expect(told(await scene.runJson('plan'))).toBe('exit 0, greeting unchanged, prompt/needless-allow-breaking');
  });

  test('is warned of where no variables change', async () => {
    const scene = await ready('Hello {{name}}.');
    allow(scene, { text: 'Hello {{name}}.' });
    expect(told(await scene.runJson('plan'))).toBe('exit 0, greeting pending, prompt/needless-allow-breaking');
  });

  test('says nothing where variables are not strict', async () => {
    const scene = await ready('Hello {{name}}.', CONFIG);
    allow(scene, { text: 'Hello {{name}}.' });
    expect(told(await scene.runJson('plan'))).toBe('exit 0, greeting pending');
  });

  test.each(['"true"', '1', 'yes', '{}'])('is true or false: %s is neither', async (value) => {
    const scene = await ready('Hi {{name}}.');
    const text = promptText('greeting').replace('\n---\n', `\nallow_breaking: ${value}\n---\n`);
    writeFiles(scene.folder, { [PATH]: text });
    expect(told(await scene.runJson('plan'))).toBe('exit 1, prompt/invalid-field');
  });
});

describe('somebody moves the environment between plan and write', () => {
  /** The environment is moved when it has been read so many times. */
  async function syncMoved(scene: Scene, after: number) {
    let reads = 0;
    const front = await startFront({
      target: scene.service.baseUrl,
      answer: ({ method, path }) => {
        if (method === 'GET' && path.includes('environment=staging') && ++reads === after) scene.activate('staging', 2);
        return null;
      },
    });
    const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    return { ran: await runJson(scene.folder, SYNC, { environment }), writes: front.takeWrites() };
  }

  test('to other variables than the file has: refused, and nothing is written', async () => {
    const scene = await ready('Hello {{name}}.');
    scene.make(['Hi.']);
    const { ran, writes } = await syncMoved(scene, 2);
    expect(told(ran)).toBe('exit 3, greeting blocked guard/breaking');
    expect(writes).toEqual([]);
    expect(scene.serves('staging')).toBe('v2');
  });

  test('to the same variables: written', async () => {
    const scene = await ready('Hello {{name}}.');
    scene.make(['Hey {{name}}.']);
    const { ran } = await syncMoved(scene, 2);
    expect(told(ran)).toBe('exit 0, greeting applied');
    expect(scene.serves('staging')).toBe('v3');
  });
});
