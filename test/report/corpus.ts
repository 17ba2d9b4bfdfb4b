/** Texts with a special meaning in a terminal or in a runner's log. The keys complete test titles. */
export const HOSTILE = {
  'color codes': '\u001b[31mred\u001b[0m',
  'cursor movements': '\u001b[2J\u001b[H\u001b[1A',
  'a terminal hyperlink': '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
  'a terminal title': '\u001b]0;title\u0007',
  'eight-bit control codes': '\u009b31m\u0090q\u009c\u0085',
  'a carriage return': 'safe\rerased',
  'a runner command after a carriage return': 'x\r::error::c',
  backspaces: 'rm -rf\b\b\b\b\b\bls',
  'NUL and DEL characters': 'a\u0000b\u007fc',
  'unusual line separators': 'a\u000bb\u000cc\u2028d\u2029e\u0085f',
  'runner commands after unusual line separators':
    'a\u2028::error::b\u2029::error::c\u0085::error::d\u000b::error::e\f::error::f',
  'bidirectional control characters': '\u202eevil\u202c \u2066iso\u2069 \u200f\u200e\u061c',
  'zero-width characters': 'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00ad\u180e\u034f',
  'tag characters': 'A\u{e0049}\u{e0067}\u{e006e}\u{e007f}Z',
  'blank filler characters': '\u115f\u1160\u3164\uffa0\u2800',
  'variation selectors': 'a\ufe00\ufe0e\ufe0fb\u{e0100}\u180f',
  'other characters that Unicode ignores by default': '\u{1bca0}\ufff0\u{1d173}',
  'a runner command': '::error file=a.md,line=1::forged',
  'a runner command after spaces': '  \t ::set-output name=x::forged',
  'a runner command after unusual spaces': '\u00a0\u2003\ufeff::add-mask::forged',
  'runner commands in later lines': 'first\n::error::forged\n  ::stop-commands::x',
  'an old-style runner command': '##[command]forged',
  'half of a runner command, which the output continues': 'first\n:',
  'old-style runner commands within a line': 'text ##[error]forged ##[group]x',
  'hashes before an old-style runner command': '####[error]forged',
  'an Azure Pipelines command': '##vso[task.setvariable variable=x]forged',
  'lone surrogates': 'a\ud800b\udc00',
  'JSON special characters': '"\\/\b\f\n\r\t{}[]',
  'a text that resembles escape sequences': '\\u{1b} \\x1b[31m \\u001b',
  'HTML and Markdown syntax': '<script>alert(1)</script> `code` **b** [x](y) @someone #1',
  'template placeholders': '${x} {{x}} %s %o $& $1',
  'the key __proto__': '__proto__',
} as const satisfies Record<string, string>;

/** A few texts that together contain all hostile texts, for tests that render whole reports. */
export const HOSTILE_TOGETHER: Readonly<Record<string, string>> = {
  lines: Object.values(HOSTILE).join('\n'),
  ...Object.fromEntries(Object.entries(HOSTILE).filter(([name]) => /command|separators|selectors/.test(name))),
};

/** The texts without line feeds and tabs, which a field of one line may contain. */
export const HOSTILE_LINES = Object.entries(HOSTILE).filter(([, text]) => !/[\n\t]/.test(text));

/** Matches invisible characters in an output, except for line feeds. This includes color codes. */
export const INVISIBLE =
  /[\p{Default_Ignorable_Code_Point}\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb]/u;

/** Returns the lines that a GitHub runner treats as commands. Its lines end with LF, CR or CRLF. */
export function commandsIn(output: string): readonly string[] {
  return output
    .split(/\r\n|\r|\n/)
    .filter((line) => /^\s*::/.test(line.replaceAll('\u0085', ' ')) || line.includes('##['));
}
