/** Texts that try to be more than data in a terminal or in a runner's log. */
export const HOSTILE = {
  colour: '\u001b[31mred\u001b[0m',
  cursor: '\u001b[2J\u001b[H\u001b[1A',
  'a link of the terminal': '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
  'a title of the terminal': '\u001b]0;title\u0007',
  'eight-bit controls': '\u009b31m\u0090q\u009c\u0085',
  'a carriage return': 'safe\rerased',
  'a carriage return before a command': 'x\r::error::c',
  backspaces: 'rm -rf\b\b\b\b\b\bls',
  'NUL and DEL': 'a\u0000b\u007fc',
  'other line ends': 'a\u000bb\u000cc\u2028d\u2029e\u0085f',
  'other line ends before a command': 'a\u2028::error::b\u2029::error::c\u0085::error::d\u000b::error::e\f::error::f',
  'the other direction': '\u202eevil\u202c \u2066iso\u2069 \u200f\u200e\u061c',
  'zero-width characters': 'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00ad\u180e\u034f',
  'tag characters': 'A\u{e0049}\u{e0067}\u{e006e}\u{e007f}Z',
  'fillers that show nothing': '\u115f\u1160\u3164\uffa0\u2800',
  'variation selectors': 'a\ufe00\ufe0e\ufe0fb\u{e0100}\u180f',
  'other characters that Unicode ignores': '\u{1bca0}\ufff0\u{1d173}',
  'a command': '::error file=a.md,line=1::forged',
  'a command after blanks': '  \t ::set-output name=x::forged',
  'a command after odd blanks': '\u00a0\u2003\ufeff::add-mask::forged',
  'a command in the next line': 'first\n::error::forged\n  ::stop-commands::x',
  'a command of the old kind': '##[command]forged',
  'a command of the old kind within': 'text ##[error]forged ##[group]x',
  'hashes before a command of the old kind': '####[error]forged',
  'a command of another runner': '##vso[task.setvariable variable=x]forged',
  'half a character': 'a\ud800b\udc00',
  'characters of JSON': '"\\/\b\f\n\r\t{}[]',
  'what looks like an escape': '\\u{1b} \\x1b[31m \\u001b',
  'characters of HTML and Markdown': '<script>alert(1)</script> `code` **b** [x](y) @someone #1',
  'what fills templates': '${x} {{x}} %s %o $& $1',
  'a key of an object': '__proto__',
} as const satisfies Record<string, string>;

/** Without line feeds and tabs: what may stand in a field that is one line. */
export const HOSTILE_LINES = Object.entries(HOSTILE).filter(([, text]) => !/[\n\t]/.test(text));

/** Everything in an output that is neither a line feed nor visible: colours are what is looked for with `colour`. */
export const INVISIBLE =
  /[\p{Default_Ignorable_Code_Point}\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb]/u;

/** A line that a GitHub runner takes for a command; its lines end at LF, CR or both. */
export function commandsIn(output: string): readonly string[] {
  return output
    .split(/\r\n|\r|\n/)
    .filter((line) => /^\s*::/.test(line.replaceAll('\u0085', ' ')) || line.includes('##['));
}
