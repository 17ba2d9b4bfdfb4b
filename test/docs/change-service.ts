// Changes a prompt in the service without promptsync: `node change-service.ts URL PROMPT ENVIRONMENT TEXT`.
import { changeService } from '../support/service.ts';

const [url = '', prompt = '', environment = '', text = ''] = process.argv.slice(2);
await changeService(url, prompt, environment, text);
