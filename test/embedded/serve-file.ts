// Serves one database file in a separate process: `node serve-file.ts FILE`. It prints its base URL and ends when its
// standard input ends.
import { startServer } from '../../src/embedded/server.ts';
import { openStore } from '../../src/embedded/prompt-store.ts';

const store = openStore(process.argv[2] ?? ':memory:', { now: Date.now });
store.authorizeKey({ apiKey: 'key-of-one', projectId: 'one' });
store.registerPrompt({ id: 'p1', projectId: 'one', key: 'k/1', name: 'First' });
const server = await startServer({ store, port: 0 });
console.log(server.baseUrl);
process.stdin.resume().on('end', async () => {
  await server.close();
  store.close();
});
