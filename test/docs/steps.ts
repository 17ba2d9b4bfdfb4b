import { dirname } from 'node:path';
import type { Html, Nodes } from 'mdast';
import { parseMarkdown } from '../support/markdown.ts';

const DIRECTIVES = ['world', 'exit', 'setup', 'file', 'elsewhere', 'other'] as const;
export type Directive = (typeof DIRECTIVES)[number];

/** A fenced block of a page, with the directives in the comments directly above it. */
export type Block = {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The value is the empty string if a directive has no value. */
  readonly directives: ReadonlyMap<Directive, string>;
};

/** Returns the code blocks of a page in order. Throws if a comment above a block is not a known directive. */
export function blocksIn(markdown: string): readonly Block[] {
  return blocksBelow(parseMarkdown(markdown));
}

function blocksBelow(node: Nodes): readonly Block[] {
  const children: readonly Nodes[] = 'children' in node ? node.children : [];
  return children.flatMap((child, index) => {
    if (child.type !== 'code') return blocksBelow(child);
    const directives = new Map(commentsAbove(children.slice(0, index)).flatMap(directiveIn));
    return [{ line: child.position!.start.line, language: child.lang ?? '', text: child.value, directives }];
  });
}

function commentsAbove(before: readonly Nodes[]): readonly Html[] {
  const first = before.findLastIndex((node) => node.type !== 'html' || !node.value.startsWith('<!--'));
  return before.slice(first + 1).filter((node) => node.type === 'html');
}

function directiveIn({ value, position }: Html): readonly [Directive, string][] {
  const [, name = '', text = ''] = /^<!--\s*([\w-]+)(?::\s*|\s)([\s\S]*?)\s*-->$/.exec(value) ?? [];
  if (['begin', 'end', 'prettier-ignore'].includes(name)) return [];
  const known = DIRECTIVES.find((one) => one === name);
  if (known === undefined)
    throw new Error(`line ${position?.start.line}: ${value} is none of ${DIRECTIVES.join(', ')}`);
  return [[known, text]];
}

/** One piece of script whose result must be as the page shows. */
export type Step = {
  readonly line: number;
  /** The command as the page shows it. */
  readonly shown: string;
  readonly script: string;
  readonly exitCode: number;
  /** Null if the page shows no output. */
  readonly output: string | null;
};

/** The steps of a page that share one folder, one service and one shell. */
export type Play = { readonly world: string; readonly line: number; readonly steps: readonly Step[] };

/** Returns the worlds of a page, each with its steps. */
export function playsIn(markdown: string): readonly Play[] {
  const plays: (Play & { readonly steps: Step[] })[] = [];
  for (const block of blocksIn(markdown)) {
    const world = block.directives.get('world');
    if (world !== undefined) plays.push({ world, line: block.line, steps: [] });
    const steps = stepsOf(block);
    if (steps.length > 0 && plays.length === 0) throw new Error(`line ${block.line}: no <!-- world: … --> is above it`);
    plays.at(-1)?.steps.push(...steps);
  }
  return plays;
}

function stepsOf(block: Block): readonly Step[] {
  if (block.directives.has('elsewhere')) return [];
  const setup = block.directives.get('setup');
  const hidden = setup === undefined ? [] : [step(block.line, `setup: ${setup}`, setup)];
  return [...hidden, ...fileIn(block), ...withExitCode(commandsIn(block), block)];
}

/** Returns a step that writes the block to the file of its `file` directive. */
function fileIn({ directives, line, text }: Block): readonly Step[] {
  const path = directives.get('file');
  if (path === undefined) return [];
  const script = `mkdir -p '${dirname(path)}'\ncat > '${path}' <<'END OF THE FILE'\n${text}\nEND OF THE FILE`;
  return [step(line, `file: ${path}`, script)];
}

function commandsIn(block: Block): readonly Step[] {
  if (block.language === 'console') return consoleSteps(block);
  return block.language === 'sh' ? [step(block.line + 1, block.text, block.text)] : [];
}

/** Splits a console block. `$ ` begins a command, `> ` continues it after a backslash, and the rest is its output. */
function consoleSteps({ line, text }: Block): readonly Step[] {
  const parts = text.split(/^(?=\$ )/m);
  if (!text.startsWith('$ ')) throw new Error(`line ${line + 1}: a console block begins with a line "$ command"`);
  return parts.map((part, index) => {
    const before = parts.slice(0, index).join('').split('\n').length - 1;
    const [, command = '', output = ''] = /^\$ ((?:.*\\\n> )*.*)\n?([\s\S]*)$/.exec(part) ?? [];
    return { ...step(line + 1 + before, command, command.replaceAll('\\\n> ', '\\\n')), output };
  });
}

/**
 * Gives the last command of a console block the exit code of its directive. A `sh` block is one step, in which an exit code
 * would hide the failure of an earlier command.
 */
function withExitCode(steps: readonly Step[], { directives, line, language }: Block): readonly Step[] {
  const written = directives.get('exit');
  if (written === undefined) return steps;
  if (!/^\d+$/.test(written) || language !== 'console') throw new Error(`line ${line}: <!-- exit: ${written} -->`);
  return steps.map((one, index) => (index === steps.length - 1 ? { ...one, exitCode: Number(written) } : one));
}

function step(line: number, shown: string, script: string): Step {
  return { line, shown, script, exitCode: 0, output: null };
}
