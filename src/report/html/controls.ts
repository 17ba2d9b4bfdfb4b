import { markup, type Markup, nothing } from './markup.ts';
import { type Trait, TRAITS, traitsOf } from './traits.ts';
import type { Report } from '../schema.ts';

const FILTERS = {
  all: 'All',
  review: 'To review',
  changed: 'Changed',
  drift: 'Drift',
  blocked: 'Blocked',
  failed: 'Not done',
} as const satisfies Record<Trait | 'all', string>;

type Filter = { readonly name: keyof typeof FILTERS; readonly count: number };

/**
 * What only the page's script can do. It is hidden where no script runs.
 * @param hasTexts whether there is anything to put side by side
 */
export function controlsOf({ prompts, mode }: Report, hasTexts: boolean): Markup {
  const filters = filtersOf(prompts.map((prompt) => traitsOf(prompt, mode)));
  return markup`<form class="controls" hidden>
<input type="search" id="search" placeholder="Search names and texts" aria-label="Search in names and texts" autocomplete="off">
${filters.length < 2 ? nothing : markup`<fieldset><legend>Show</legend>${filters.map((one) => radio(one, firstOf(filters)))}</fieldset>\n`}${hasTexts ? view : nothing}<span class="buttons"><button type="button" data-do="expand">Expand</button> <button type="button" data-do="collapse">Collapse</button> <button type="button" data-do="help">Keys</button></span>
</form>
`;
}

const view: Markup = markup`<fieldset class="view"><legend>Texts</legend>
<label><input type="radio" name="view" value="unified" checked><span>Unified</span></label>
<label><input type="radio" name="view" value="split"><span>Side by side</span></label></fieldset>
`;

/** Where one trait is all that there is to review, its name says more. */
function filtersOf(prompts: readonly (readonly Trait[])[]): readonly Filter[] {
  const count = (trait: Trait) => prompts.filter((traits) => traits.includes(trait)).length;
  const traits = TRAITS.map((name) => ({ name, count: count(name) }));
  const [review, ...others] = traits;
  if (review === undefined || review.count === 0) return [];
  const kept = others.filter((one) => one.name !== 'failed' || one.count > 0);
  const same = others.some((one) => one.count === review.count);
  return [{ name: 'all', count: prompts.length }, ...(same ? [] : [review]), ...kept];
}

/** What the reader has come for: all that is to review, where that is not all. */
function firstOf(filters: readonly Filter[]): Filter['name'] {
  const [all, ...others] = filters;
  const widest = others.toSorted((a, b) => b.count - a.count)[0];
  return all === undefined || widest === undefined || widest.count === all.count ? 'all' : widest.name;
}

function radio({ name, count }: Filter, first: Filter['name']): Markup {
  const state = name === first ? markup` checked` : count === 0 ? markup` disabled` : nothing;
  // Without a base drift is not looked for, and the report does not tell whether there was one.
  const shown = name === 'drift' && count === 0 ? nothing : markup` <b>${count}</b>`;
  const input = markup`<input type="radio" name="show" value="${name}"${state}>`;
  return markup`<label>${input}<span>${FILTERS[name]}${shown}</span></label>\n`;
}

/** The keys that the script knows. */
export const help: Markup = markup`<dialog aria-labelledby="keys"><h2 id="keys">Keys</h2>
<dl><div><dt><kbd>/</kbd></dt><dd>search</dd></div>
<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous prompt</dd></div>
<div><dt><kbd>Enter</kbd></dt><dd>open or close the prompt</dd></div>
<div><dt><kbd>e</kbd> <kbd>c</kbd></dt><dd>expand, collapse all that are shown</dd></div>
<div><dt><kbd>1</kbd> <kbd>2</kbd> …</dt><dd>the filters, in their order</dd></div>
<div><dt><kbd>v</kbd></dt><dd>unified or side by side</dd></div>
<div><dt><kbd>?</kbd></dt><dd>this help</dd></div></dl>
<p><label><input type="checkbox" id="letters" checked> Single letters are commands</label></p>
<form method="dialog"><button>Close</button></form></dialog>
`;
