/** The environments of every prompt of the measurements. */
export const ENVIRONMENTS = ['development', 'staging', 'production'] as const;
export const TRACKING = 'promptsync';
/** Requests in flight: of promptsync and of the bare loops beside it. */
export const CONCURRENCY = 8;
export const API_KEY = 'sk-bench-0123456789';

/** The prompt files are of edition 1; a prompt that has changed is in the service as it was in edition 0. */
export type Edition = 0 | 1;

const BYTES = 4_000;

export function idOf(index: number): string {
  return `prm_${index}`;
}

export function fieldsOf(index: number) {
  return {
    key: `bench/prompt-${index}`,
    name: `Prompt ${index}`,
    description: `What agent ${index} says first; "kept" as it is.`,
  };
}

/** About 4 kB, each its own, with letters beyond ASCII as real texts have them. */
export function textOf(index: number, edition: Edition): string {
  const lines = [`You are agent ${index} – helpful, brief and “precise”. Edition ${edition}.`, ''];
  let size = 0;
  for (let line = 0; size < BYTES; line++) {
    const mark = (Math.imul(index * 1_000 + line + 1, 0x9e3779b1) >>> 0).toString(36);
    const text = `- Rule ${line}: when {{customer_name}} asks about ${mark}, answer in one sentence and say why.`;
    lines.push(text);
    size += text.length + 1;
  }
  return lines.join('\n');
}

/** The prompt file. Every fifth has its production on a number, as teams do that promote by hand. */
export function fileOf(index: number, edition: Edition, numbers = true): string {
  const { key, name, description } = fieldsOf(index);
  const production = numbers && index % 5 === 0 ? '1' : 'latest';
  const pins = ENVIRONMENTS.map((one) => `  ${one}: ${one === 'production' ? production : 'latest'}\n`).join('');
  const head = `id: ${idOf(index)}\nkey: ${key}\nname: ${name}\ndescription: ${JSON.stringify(description)}\npins:\n${pins}`;
  return `---\n${head}---\n\n${textOf(index, edition)}\n`;
}
