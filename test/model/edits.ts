import type { Edit, PinIdea } from './commands.ts';
import type { Draft } from './history.ts';

/** The ids of the versions that there are, of one prompt and of the others. */
export type Ids = { readonly own: readonly string[]; readonly others: readonly string[] };

/** A file that has not been there so far. */
export function firstDraft(promptId: string): Draft {
  return {
    path: `prompts/${promptId}.md`,
    key: `k/${promptId}`,
    name: 'First',
    description: null,
    text: 'A',
    metadata: null,
    pins: { staging: 'latest' },
  };
}

/** The file after an edit; null where it was removed. */
export function edited(draft: Draft, edit: Edit, ids: Ids): Draft | null {
  switch (edit.edit) {
    case 'text':
      return { ...draft, text: edit.text };
    case 'metadata':
      return { ...draft, metadata: edit.metadata };
    case 'name':
      return { ...draft, name: edit.name };
    case 'description':
      return { ...draft, description: edit.description };
    case 'pin':
      return { ...draft, pins: pinned(draft, edit.environment, edit.idea, ids) };
    case 'only-pin':
      return { ...draft, pins: { [edit.environment]: written(edit.idea, ids) } };
    case 'move':
      return { ...draft, path: draft.path.endsWith('-moved.md') ? draft.path.replace('-moved', '') : moved(draft) };
    case 'remove':
      return null;
  }
}

function pinned({ pins }: Draft, environment: string, idea: PinIdea | null, ids: Ids): Draft['pins'] {
  const others = Object.entries(pins).filter(([name]) => name !== environment);
  return Object.fromEntries(idea === null ? others : [...others, [environment, written(idea, ids)]]);
}

/** Where there is no version yet, the first one is meant. */
function written(idea: PinIdea, { own, others }: Ids): string | number {
  switch (idea.pin) {
    case 'latest':
      return 'latest';
    case 'number':
      return Math.max(1, own.length - (idea.nth % Math.max(1, own.length)));
    case 'number-of-nothing':
      return own.length + 1 + idea.beyond;
    case 'id':
      return `version:${own.at(-1 - (idea.nth % Math.max(1, own.length))) ?? 'ver_none'}`;
    case 'id-of-another':
      return `version:${others.at(-1 - (idea.nth % Math.max(1, others.length))) ?? 'ver_none'}`;
    case 'git':
      return `git:${idea.tag}`;
  }
}

function moved({ path }: Draft): string {
  return path.replace('.md', '-moved.md');
}
