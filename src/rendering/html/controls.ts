import type { Report } from '../../schemas/report.ts';
import { markup, nothing, type Markup } from './markup.ts';
import { traitsOf, type Trait } from './prompt.ts';

const FILTERS: readonly (Trait | 'all')[] = ['all', 'changed', 'drift', 'blocked', 'failed'];

/** What only the page's script can do. It is hidden where no script runs. */
export function controlsOf({ prompts }: Report): Markup {
  const traits = prompts.flatMap(traitsOf);
  const count = (filter: Trait | 'all') =>
    filter === 'all' ? prompts.length : traits.filter((trait) => trait === filter).length;
  const filters = FILTERS.map((filter) => filterOf(filter, count(filter)));
  return markup`<form class="controls" hidden>
<input type="search" id="search" placeholder="Search in names and texts" aria-label="Search in names and texts" autocomplete="off">
<fieldset><legend>Show</legend>${filters}</fieldset>
<fieldset><legend>Texts</legend>
<label><input type="radio" name="view" value="unified" checked><span>Unified</span></label>
<label><input type="radio" name="view" value="split"><span>Side by side</span></label></fieldset>
<span class="buttons"><button type="button" data-do="expand">Expand all</button> <button type="button" data-do="collapse">Collapse all</button> <button type="button" data-do="help">Keys</button></span>
<output aria-live="polite"></output>
</form>
`;
}

function filterOf(filter: Trait | 'all', count: number): Markup {
  if (filter === 'failed' && count === 0) return nothing;
  const checked = filter === 'all' ? markup` checked` : nothing;
  const disabled = count === 0 ? markup` disabled` : nothing;
  const input = markup`<input type="radio" name="show" value="${filter}"${checked}${disabled}>`;
  return markup`<label>${input}<span>${filter.charAt(0).toUpperCase()}${filter.slice(1)} <b>${count}</b></span></label>\n`;
}

/** The keys that the script knows. */
export const help: Markup = markup`<dialog aria-labelledby="keys"><h2 id="keys">Keys</h2>
<dl><div><dt><kbd>/</kbd></dt><dd>search</dd></div>
<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous prompt</dd></div>
<div><dt><kbd>Enter</kbd></dt><dd>open or close the prompt</dd></div>
<div><dt><kbd>e</kbd> <kbd>c</kbd></dt><dd>expand, collapse all that are shown</dd></div>
<div><dt><kbd>1</kbd> … <kbd>5</kbd></dt><dd>the filters</dd></div>
<div><dt><kbd>v</kbd></dt><dd>unified or side by side</dd></div>
<div><dt><kbd>?</kbd></dt><dd>this help</dd></div></dl>
<p><label><input type="checkbox" id="letters" checked> Single letters are commands</label></p>
<form method="dialog"><button>Close</button></form></dialog>
`;
