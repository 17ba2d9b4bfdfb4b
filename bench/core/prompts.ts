/** The environments of every prompt in the benchmarks. */
export const ENVIRONMENTS = ['development', 'staging', 'production'] as const;
export const TRACKING = 'promptsync';
/** The number of concurrent requests of promptsync and of the bare loops. */
export const CONCURRENCY = 8;
export const API_KEY = 'sk-bench-0123456789';

/** A state of the texts. Prompt files have edition 1. The service has edition 0 of a prompt that a sync must change. */
export type Edition = 0 | 1;

/** The approximate size of a text in bytes. */
const TEXT_BYTES = 4_000;

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

/** Makes a unique text of about 4 kB. Like real texts, it contains characters outside ASCII. */
export function textOf(index: number, edition: Edition): string {
  const lines = [`You are agent ${index} – helpful, brief and “precise”. Edition ${edition}.`, ''];
  let size = 0;
  for (let line = 0; size < TEXT_BYTES; line++) {
    const topic = (Math.imul(index * 1_000 + line + 1, 0x9e3779b1) >>> 0).toString(36);
    const rule = `- Rule ${line}: when {{customer_name}} asks about ${topic}, answer in one sentence and say why.`;
    lines.push(rule);
    size += rule.length + 1;
  }
  return lines.join('\n');
}

/**
 * Makes a prompt file. Every fifth file pins production to a number, like the files of teams that promote by hand.
 * @param withNumbers whether a pin may be a number
 */
export function fileOf(index: number, edition: Edition, withNumbers = true): string {
  const { key, name, description } = fieldsOf(index);
  const production = withNumbers && index % 5 === 0 ? '1' : 'latest';
  const pins = ENVIRONMENTS.map((name) => `  ${name}: ${name === 'production' ? production : 'latest'}\n`).join('');
  const head = `id: ${idOf(index)}\nkey: ${key}\nname: ${name}\ndescription: ${JSON.stringify(description)}\npins:\n${pins}`;
  return `---\n${head}---\n\n${textOf(index, edition)}\n`;
}
