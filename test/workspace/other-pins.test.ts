import { describe, expect, test } from 'vitest';
import { LENIENT_SETTINGS, parsePromptFile, type ParseSettings } from '../../src/workspace/parse-prompt-file.ts';
import { langfuseFileRules } from '../../src/providers/langfuse/file-rules.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';
import { formatPin, type EnvironmentPin } from '../../src/domain/prompt-file.ts';
import { makeSource, messages, PATH, summarizeProblems } from './support.ts';

const PINS = 'pins:\n  staging: latest\n  production: 7\n  eu: git:v1\n';

function parseWith(source: string, settings: Partial<ParseSettings>) {
  return parsePromptFile(Buffer.from(source), PATH, { ...LENIENT_SETTINGS, rules: fourCallFileRules, ...settings });
}

const formatPins = (pins: readonly EnvironmentPin[] = []) =>
  pins.map(({ environment, pin }) => `${environment}: ${formatPin(pin)}`);

describe('the pins of environments that a different configuration manages', () => {
  test('the parser keeps the pins of other environments apart from the pins of the configuration', () => {
    const { file } = parseWith(makeSource(PINS), { otherEnvironments: ['production', 'eu'] });
    expect(formatPins(file?.pins)).toEqual(['staging: latest']);
    expect(formatPins(file?.otherPins)).toEqual(['production: 7', 'eu: git:v1']);
    expect(file?.otherPins?.[0]).toMatchObject({ line: 7, column: 15 });
    const { file: own } = parseWith(makeSource(PINS), {});
    expect([own?.pins.length, own?.otherPins]).toEqual([3, undefined]);
  });

  test('the parser reports an invalid pin of an environment of another configuration like any other invalid pin', () => {
    const { problems } = parseWith(makeSource('pins: {production: newest}\n'), { otherEnvironments: ['production'] });
    expect(summarizeProblems(problems)).toEqual(['prompt/invalid-pin 5:20']);
  });

  test('a pin can name an environment of this configuration or of another one, but not an unknown environment', () => {
    const source = makeSource('pins: {staging: 1, production: 2, prod: 3}\n');
    const settings = { environments: [{ name: 'staging' }], otherEnvironments: ['production'] };
    const { problems } = parseWith(source, settings);
    expect(summarizeProblems(problems)).toEqual(['prompt/unknown-environment 5:35']);
    expect(parseWith(source, { ...settings, environments: null }).problems).toEqual([]);
  });
});

describe('portable pins', () => {
  const portable = { portablePins: true, otherEnvironments: ['production'] };

  test("with portable_pins, each version number and each version id in a pin causes one problem at the pin's position", () => {
    const pins = 'pins:\n  staging: 3\n  production: 7\n  eu: version:ver_1\n  us: latest\n  asia: git:v1\n';
    const { file, problems } = parseWith(makeSource(pins), portable);
    expect(file).toBeNull();
    const places = ['6:12', '7:15', '8:7'].map((place) => `prompt/not-portable-pin ${place}`);
    expect(summarizeProblems(problems)).toEqual(places);
    expect(messages(problems)).toMatch(
      /"eu" is pinned to `version:ver_1`.*`portable_pins`.*`promptsync promote KEY --to eu`/s,
    );
  });

  test('with portable_pins, the hint for an invalid pin suggests neither a number nor an id', () => {
    const { problems } = parseWith(makeSource('pins: {staging: v7}\n'), portable);
    expect(summarizeProblems(problems)).toEqual(['prompt/invalid-pin 5:17']);
    expect(problems[0]?.hint).toBe('Use `latest` or `git:<ref>`.');
  });

  test('with portable_pins, a pin to a version id is reported only once, even if the service has no version ids', () => {
    const source = '---\nid: a\npins: {staging: version:ver_1}\n---\n\nHello.\n';
    const { problems } = parseWith(source, { ...portable, rules: langfuseFileRules });
    expect(summarizeProblems(problems)).toEqual(['prompt/not-portable-pin 3:17']);
  });
});
