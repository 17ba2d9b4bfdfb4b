import type { AnnotationKind, AnnotationPlace, Runner } from '../../src/action/host.ts';
import { readInputs, type Inputs } from '../../src/action/inputs.ts';

export type Annotation = { readonly kind: AnnotationKind; readonly text: string; readonly place: AnnotationPlace };

/** A runner in memory; nothing is given but these inputs. */
export type RunnerDouble = Runner & { readonly secrets: string[]; readonly annotations: Annotation[] };

export function makeRunner(inputs: Readonly<Record<string, string>> = {}): RunnerDouble {
  const secrets: string[] = [];
  const annotations: Annotation[] = [];
  return {
    secrets,
    annotations,
    getInput: (name) => inputs[name] ?? '',
    setOutput: () => {},
    setSecret: (secret) => void secrets.push(secret),
    annotate: (kind, text, place) => void annotations.push({ kind, text, place }),
    writeSummary: () => Promise.resolve(),
  };
}

export function inputsOf(inputs: Readonly<Record<string, string>> = {}): Inputs {
  return readInputs(makeRunner(inputs));
}
