import type { ContentsAtRefs, Meaning } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import type { NewVersionRef } from '../domain/plan.ts';
import type { EnvironmentPin, Pin, PromptFile } from '../domain/prompt-file.ts';
import { refOf, type VersionRef } from '../domain/version.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** Everything that a pin's meaning depends on. */
export type PinContext = {
  readonly file: PromptFile;
  readonly observed: Observed;
  readonly contentsAtRefs: ContentsAtRefs;
};

/** What a pin asks for: nothing, another active version, or more than is known. `finds`: an apply looks for it. */
export type Resolution =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'set'; readonly after: VersionRef | NewVersionRef; readonly finds: boolean }
  | { readonly kind: 'blocked'; readonly problem: Problem; readonly finds: boolean };

/** What a plan does about a pin of such a meaning. */
export function resolvePin(pin: EnvironmentPin, meaning: Meaning, context: PinContext): Resolution {
  switch (meaning.kind) {
    case 'in-sync':
      return meaning;
    case 'known':
      return { kind: 'set', after: refOf(meaning.version), finds: false };
    case 'new': {
      const { content, ref } = meaning;
      return { kind: 'set', after: { new: content, ...(ref !== undefined && { ref }) }, finds: false };
    }
    case 'unknown':
      return resolveUnknown(pin, context);
  }
}

/** An id is a promise by itself: unknown ones are planned, and read before they go live. */
function resolveUnknown({ environment, pin, line, column }: EnvironmentPin, context: PinContext): Resolution {
  const { file, observed, contentsAtRefs } = context;
  const place: Place = { path: file.path, line, column };
  if (pin.kind === 'version' && !observed.missing.includes(pin.id)) {
    return { kind: 'set', after: { id: pin.id, number: null }, finds: true };
  }
  const finds = pin.kind === 'number' && observed.findable;
  return { kind: 'blocked', problem: unresolvable(pin, environment, { finds, contentsAtRefs, place }), finds };
}

type Unresolved = { readonly finds: boolean; readonly contentsAtRefs: ContentsAtRefs; readonly place: Place };

function unresolvable(pin: Pin, environment: string, { finds, contentsAtRefs, place }: Unresolved): Problem {
  switch (pin.kind) {
    case 'number':
      return makeProblem('pin/unknown-number', { environment, number: pin.number, lookable: finds }, place);
    case 'version':
      return makeProblem('pin/unknown-version', { environment, id: pin.id }, place);
    case 'git': {
      const at = contentsAtRefs.get(pin.ref);
      return at !== undefined && 'code' in at ? at : makeProblem('pin/unknown-ref', { ref: pin.ref }, place);
    }
    case 'latest':
      return makeProblem('internal/unexpected', { reason: 'a file has no content of its own' }, place);
  }
}
