import { REQUIRED_FIELDS, makeSource } from './support.ts';

const crlf = (source: string) => source.replaceAll('\n', '\r\n');
const whole = (frontMatter: string, body = '\nHello.\n') => `---\n${frontMatter}---\n${body}`;
const LONG = 'long '.repeat(60).trim();
const PINS = 'pins:\n  staging: latest\n  production: 7\n';

/** Valid prompt files whose front matter is awkward to edit. The key describes the file, the value is its source. */
export const corpus: Readonly<Record<string, string>> = {
  'pins alone': makeSource(PINS),
  'no pins': makeSource(),
  'empty pins in braces': makeSource('pins: {}\n'),
  'empty pins in braces on two lines': makeSource('pins: {\n  }\n'),
  'a comment in empty pins': makeSource('pins: { # none yet\n  }\n'),
  'pins first': whole(`${PINS}${REQUIRED_FIELDS}`),
  'pins in the middle': whole(`id: prm_1\n${PINS}key: k\nname: N\n`),
  'comments everywhere': whole(
    `# top\n\n# more\nid: prm_1 # an id\n# between\nkey: k   # a key\nname: N\npins: # all pins\n  # first\n  staging: latest # soon\n\n  # second\n  production: 7 # since May\n  # after\n# end\n`,
  ),
  'comments without indentation between pins': makeSource(
    'pins:\n# one\n  staging: latest\n# two\n  production: 7\n# end\n',
  ),
  'comments that look like pins': makeSource(
    '# production: 7\npins:\n  # production: 7\n  staging: 7 # production: 7\n  production: 7\n',
  ),
  'names in values that look like pins': makeSource(
    `description: "production: 7"\n${PINS}metadata:\n  production: 7\n  pins: { production: 7 }\n`,
  ),
  'pins in the metadata before the pins': makeSource(
    `metadata:\n  pins:\n    production: 7\n    staging: latest\n${PINS}`,
  ),
  'flow pins': makeSource('pins: {staging: latest, production: 7}\n'),
  'flow pins with blanks': makeSource('pins: { staging : latest , production : 7 } # both\n'),
  'flow pins with a comma at the end': makeSource('pins: {staging: latest, production: 7,}\n'),
  'flow pins over several lines': makeSource(
    'pins: {\n    staging: latest, # soon\n    production: 7 # now\n    # end\n  }\n',
  ),
  'flow pins with commas first': makeSource('pins: {\n    staging: latest\n    , production: 7\n  }\n'),
  'flow pins below their key': makeSource('pins:\n  {staging: latest,\n  production: 7}\n'),
  'flow pins with explicit keys': makeSource('pins: {? staging : latest, ? production : 7}\n'),
  'JSON pins': makeSource('pins: {"staging": "latest", "production": 7}\n'),
  'JSON pins over several lines': makeSource('pins:\n  {\n    "staging": "latest",\n    "production": 7\n  }\n'),
  'JSON as a whole': whole(
    '{"id": "prm_1", "key": "k", "name": "N", "pins": {"staging": "latest", "production": 7}}\n',
  ),
  'JSON over several lines': whole(
    '{\n  "id": "prm_1",\n  "key": "k",\n  "name": "N",\n  "pins": {\n    "staging": "latest",\n    "production": 7\n  }\n}\n',
  ),
  'JSON without pins': whole('{"id": "prm_1", "key": "k", "name": "N"}\n'),
  'braces around all, with comments': whole(
    '# a\n{ id: prm_1, # b\n  key: k, name: N,\n  pins: {staging: latest, production: 7}, # c\n} # d\n',
  ),
  'double quotes': makeSource('pins:\n  "staging": "latest"\n  "production": 7\n'),
  'single quotes': makeSource("pins:\n  'staging': 'latest'\n  'production': 7\n"),
  'escapes in quotes': makeSource('pins:\n  "st\\u0061ging": "lat\\x65st"\n  "production" : 7\n'),
  'a quoted text over two lines': makeSource('pins:\n  staging: "lat\\\n    est"\n  production: 7\n'),
  'a plain value below its key': makeSource(
    'pins:\n  staging:\n    latest\n  production:\n\n    # seven\n    7 # yes\n',
  ),
  'explicit keys': makeSource('pins:\n  ? staging\n  : latest\n  ? production # which\n  # what\n  : 7\n'),
  'explicit keys of the fields': whole(
    '? id\n: prm_1\n? key\n: k\n? name\n: N\n? pins\n:\n  staging: latest\n  production: 7\n',
  ),
  'pins on the line of an explicit colon': makeSource('? pins\n: staging: latest\n  production: 7\n'),
  'block scalars as pins': makeSource(
    'pins:\n  staging: >-\n    latest\n  production: |- # a text\n    git:main\n\n  other: 7\n',
  ),
  'block scalars before pins': makeSource(`description: |\n  pins:\n    production: 7\n\n  # no comment\n${PINS}`),
  'a folded text after pins': makeSource(`${PINS}description: >-\n  one\n  two\n\n  three\n`),
  'a kept block scalar at the end': makeSource('pins: {production: 7}\ndescription: |+\n  a\n\n\n'),
  'a kept block scalar in the metadata at the end': makeSource(`${PINS}metadata:\n  a: |2+\n      a\n\n`),
  'pins after a kept block scalar': makeSource(`description: >+\n  a\n\n\n${PINS}`),
  CRLF: crlf(makeSource(`${PINS}# end\n`)),
  'CRLF in flow': crlf(makeSource('pins: {\n  staging: latest, # a\n  production: 7\n  }\n')),
  'a byte order mark': `\ufeff${makeSource(PINS)}`,
  'mixed line endings, LF first': makeSource('pins:\r\n  staging: latest\n  production: 7\r\n', '\r\na\nb\r\nc\n'),
  'mixed line endings, CRLF first': `---\r\n${REQUIRED_FIELDS}pins:\n  staging: latest\r\n  production: 7\n---\nHello.\r\n`,
  'tabs after values': makeSource('pins:\t\n  staging: latest\t\n  production:\t7\t# tab\n'),
  'trailing blanks': whole(`id: prm_1  \nkey: k \nname: N   \npins:  \n  staging: latest  \n  production: 7   \n  \n`),
  'blank lines': makeSource('\n\npins:\n\n\n  staging: latest\n\n  production: 7\n\n\n'),
  'environments like numbers': makeSource('pins:\n  "10": latest\n  "9": 7\n  b: 1\n  "1": 2\n'),
  'environments like other values': makeSource(
    'pins:\n  "true": latest\n  "null": 7\n  "~": 1\n  "1e3": 2\n  "": 3\n'.replace('  "": 3\n', ''),
  ),
  'environments with colons': makeSource('pins:\n  eu:west: latest\n  "a: b": 7\n  "c:": 1\n'),
  'environments with number signs': makeSource('pins:\n  a#b: latest\n  "c #d": 7\n  "#e": 1\n'),
  'environments with quotes': makeSource(`pins:\n  it's: latest\n  'it''s "two"': 7\n  "\\"": 1\n  '''': 2\n`),
  'environments with braces and commas': makeSource('pins:\n  a{b}: latest\n  c,d: 7\n  "{}": 1\n  "[x], y": 2\n'),
  'environments with unicode': makeSource(
    'pins:\n  prüfung: latest\n  本番: 7\n  "👩‍👩‍👧": 1\n  🚀: 2\n  e\u0301: 3\n  é: 4\n',
  ),
  'environments with blanks and dashes': makeSource(
    'pins:\n  my env: latest\n  -x: 7\n  "- y": 1\n  ?z: 2\n  " a ": 3\n',
  ),
  'environments of special names': makeSource(
    'pins:\n  constructor: latest\n  toString: 7\n  "<<": 1\n  hasOwnProperty: 2\n',
  ),
  'environments in flow': makeSource('pins: {"a,b": latest, \'c}\': 7, d:e: 1, "👍": 2, 本番: 3}\n'),
  'lines over 80 and 200 characters': makeSource(`description: ${LONG} # ${LONG}\n${PINS}`),
  'version and git pins': makeSource(
    'pins:\n  a: version:ver_1\n  b: git:main\n  c: git:refs/tags/v1.0\n  d: "version:a: b #c"\n  e: git:a#b\n',
  ),
  'numbers written in other ways': makeSource('pins:\n  a: 0x1F\n  b: 0o17\n  c: +7\n  d: 007\n  e: 1e3\n  f: 7.0\n'),
  'metadata of all kinds': makeSource(
    `metadata:\n  a: [1, 2.5, null]\n  b:\n  - x # one\n  - y: 1\n    z: 2\n  # end\n  c: {d: ~}\n  e:\n${PINS}`,
  ),
  'an empty value at the end': makeSource(`${PINS}metadata:\n  a:\n  b: # nothing\n`),
  'an empty value at the end of braces': makeSource('pins: {production: 7}\nmetadata: {a: 1, b}\n'),
  'a list without indentation': makeSource(`variables:\n- x\n- y # two\n# end\n${PINS}`, '\n{{x}} {{y}}\n'),
  'a flow list': makeSource(`variables: [x,\n  y] # two\n${PINS}`, '\n{{x}} {{y}}\n'),
  'a body with delimiters and pins': makeSource(PINS, '\n---\npins:\n  production: 7\n---\nproduction: 7\n'),
  'no blank line and no final newline': makeSource(PINS, 'Hello.'),
  'a lone carriage return in the body': makeSource(PINS, '\na\rb\n'),
  'an end of document with a comment': makeSource(`${PINS}# a\n... # b\n# c\n`),
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 7, 8].map((width) => {
      const blanks = ' '.repeat(width);
      const lines = `pins: # ${width}\n${blanks}staging: latest\n${blanks}# x\n${blanks}production: 7\n`;
      return [`pins indented by ${width}`, makeSource(lines + '# y\n')];
    }),
  ),
  'all fields indented': whole(
    `   id: prm_1\n   key: k\n   name: N\n   pins:\n     staging: latest\n     production: 7\n # end\n`,
  ),
};
