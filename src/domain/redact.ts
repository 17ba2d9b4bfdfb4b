const MARK = '[redacted]';
const EXCERPT = 200;

/** Takes the API key out of a text that the service said. */
export type Redact = (text: string) => string;

/** The key is recognised as it is, and as JSON and addresses would escape it. */
export function makeRedact(key: string): Redact {
  const forms = formsOf(key);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, MARK), text);
}

/**
 * What an error answer said: at most 200 characters, white space collapsed, without the API key. The end of a text
 * that is not whole is left out, because half of the key may stand there.
 */
export function makeExcerpt(text: string, whole: boolean, key: string): string {
  const redact = makeRedact(key);
  const longest = Math.max(0, ...formsOf(key).map((form) => form.length));
  const safe = redact(whole ? text : text.slice(0, Math.max(0, text.length - longest)));
  const collapsed = redact(safe.replaceAll(/\s+/g, ' ').trim());
  return collapsed.slice(0, EXCERPT).replace(/[\ud800-\udbff]$/, '');
}

function formsOf(key: string): readonly string[] {
  const forms = new Set([key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key.toWellFormed())]);
  return [...forms].filter((form) => form !== '').toSorted((a, b) => b.length - a.length);
}
