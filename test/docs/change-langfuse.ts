// Creates a version of a chat prompt in Langfuse without promptsync: `node change-langfuse.ts PROMPT LABEL MESSAGES`.
// The messages are JSON. The environment variables are those of promptsync.
const [name, label, messages = ''] = process.argv.slice(2);
const { LANGFUSE_HOST, LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY } = process.env;
const keys = Buffer.from(`${LANGFUSE_PUBLIC_KEY}:${LANGFUSE_SECRET_KEY}`).toString('base64');
const answer = await fetch(`${LANGFUSE_HOST}/api/public/v2/prompts`, {
  method: 'POST',
  headers: { authorization: `Basic ${keys}`, 'content-type': 'application/json' },
  body: JSON.stringify({ name, type: 'chat', labels: [label], prompt: JSON.parse(messages) }),
});
if (!answer.ok) throw new Error(`Langfuse answered ${answer.status}`);
