/**
 * The lower bound for reading prompts. Reads, splits, parses and hashes each file, without checks: `node parse.ts
 * FOLDER`.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import matter from 'gray-matter';
import { parse } from 'yaml';

const folder = process.argv[2] ?? '.';
const engines = { yaml: (text: string) => parse(text) };
const prompts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => {
    const { data, content } = matter(readFileSync(join(folder, name), 'utf8'), { engines });
    return { data, content, digest: createHash('sha256').update(content).digest('hex') };
  });
console.log(prompts.length);
