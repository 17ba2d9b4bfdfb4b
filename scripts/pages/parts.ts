import { format, resolveConfig } from 'prettier';

/** The generated parts of pages, by the name in their comments. */
export type Parts = Readonly<Record<string, string>>;

/** A page with its generated parts made anew, each between `<!-- begin NAME -->` and `<!-- end NAME -->`. */
export async function withParts(path: string, text: string, parts: Parts): Promise<string> {
  const style = { ...(await resolveConfig(path)), parser: 'markdown' } as const;
  const names = [...text.matchAll(/^<!-- begin (\S+) -->$/gm)].map(([, name = '']) => name);
  const wrapped = new Map<string, string>();
  for (const name of names) {
    const part = parts[name];
    if (part !== undefined) wrapped.set(name, await format(part, { ...style, proseWrap: 'always' }));
  }
  const made = names.reduce((page, name) => replacePart(page, name, { path, part: wrapped.get(name) }), text);
  return format(made, style);
}

type Placed = { readonly path: string; readonly part: string | undefined };

function replacePart(text: string, name: string, { path, part }: Placed): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (part === undefined) throw new Error(`${path}: there is no part: ${name}`);
  if (to < from) throw new Error(`${path} has no end of: ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`;
}

/** A table of Markdown. Cells may hold code spans; what else would be formatting is shown as it is. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** A sentence of what is written without one's beginning and end. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:]$/.test(text) ? '' : '.'}`;
}

function cell(text: string): string {
  return escapeMarkdown(text.replaceAll('\n', ' ').replaceAll('|', String.raw`\|`));
}

/** Text of which nothing is formatting but code spans. */
export function escapeMarkdown(text: string): string {
  const parts = text.split('`');
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll(/[<*]/g, String.raw`\$&`) : part)).join('`');
}
