import { format, resolveConfig } from 'prettier';

/** The generated parts of pages, by the name in the comments that surround a part. */
export type Parts = Readonly<Record<string, string>>;

/**
 * Returns the text of a page with new generated parts. A part is between `<!-- begin NAME -->` and `<!-- end NAME -->`.
 */
export async function replaceParts(path: string, text: string, parts: Parts): Promise<string> {
  const style = { ...(await resolveConfig(path)), parser: 'markdown' } as const;
  const names = [...text.matchAll(/^<!-- begin (\S+) -->$/gm)].map(([, name = '']) => name);
  const formatted = new Map<string, string>();
  for (const name of names) {
    const part = parts[name];
    if (part !== undefined) formatted.set(name, await format(part, { ...style, proseWrap: 'always' }));
  }
  const page = names.reduce((current, name) => replacePart(current, name, { path, part: formatted.get(name) }), text);
  return format(page, style);
}

type Replacement = { readonly path: string; readonly part: string | undefined };

function replacePart(text: string, name: string, { path, part }: Replacement): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (part === undefined) throw new Error(`${path} has an unknown part: ${name}`);
  if (to < from) throw new Error(`${path} has no end comment for the part: ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`;
}

/** Renders a Markdown table. In cells, escapes `|`, and escapes `<` and `*` outside of code spans. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** Makes a sentence: capitalizes the first letter and adds a period if there is no punctuation at the end. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:]$/.test(text) ? '' : '.'}`;
}

function escapeCell(text: string): string {
  return escapeMarkdown(text.replaceAll('\n', ' ').replaceAll('|', String.raw`\|`));
}

/** Escapes `<` and `*` outside of code spans. All other characters keep their meaning in Markdown. */
export function escapeMarkdown(text: string): string {
  const parts = text.split('`');
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll(/[<*]/g, String.raw`\$&`) : part)).join('`');
}
