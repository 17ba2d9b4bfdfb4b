import type { Exchange } from './exchange.ts';

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(MIB, ' ');

/** An answer of 600 MiB. It is written as it is read, and a client that goes away ends it. */
export function flood(status: number): (exchange: Pick<Exchange, 'response'>) => void {
  return ({ response }) => {
    let left = 600;
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(CHUNK)) return void response.once('drain', more);
      }
      response.end();
    };
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': left * MIB });
    more();
  };
}
