/** What the pages call the service. */
export const SERVICE = 'https://prompts.example.com';

/** The text without what differs from run to run. */
export function steady(text: string): string {
  return text
    .replaceAll(/sha256:[0-9a-f]{4,64}/g, 'sha256:<digest>')
    .replaceAll(/\bver_[\w-]+/g, 'ver_<id>')
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b/g, '<commit>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?/g, '<date>')
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|s)\b/g, '<time>')
    .replaceAll(/[ \t]+$/gm, '')
    .replace(/\n+$/, '');
}

/**
 * Whether an output is what the page shows of it, both steady. There `…` stands for the rest of a word or a line, and a
 * line of nothing else for any number of lines.
 */
export function isShown(actual: string, shown: string): boolean {
  const lines = shown.split('\n').map((line) => (line === '…' ? ANY_LINES : `${fragment(line)}\n`));
  return new RegExp(`^${lines.join('')}$`).test(`${actual}\n`);
}

const ANY_LINES = '(?:.*\\n)*?';

function fragment(line: string): string {
  return line
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join('.*');
}
