import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { listenUntilTestEnd } from './support.ts';

/** A key for 127.0.0.1 and prompts.invalid, used only by tests. Its certificate is valid until 2120. */
export const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3oZn4Qucv5FPicvv
XbymtbD4xyFPHYavvQXk2Rt9b4yhRANCAAQezVDD7uE89GcRjSc6lzAlY2dDmy2I
xA/qKXIWwNdhxpUlV/uX/U+8943ljHJHYswCZuV0UfW8HPYwOyj1OsG2
-----END PRIVATE KEY-----`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBejCCASGgAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBwcm9tcHRz
eW5jIHRlc3RzMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBBwcm9tcHRzeW5jIHRlc3RzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEHs1Qw+7hPPRnEY0nOpcwJWNnQ5stiMQP6ilyFsDXYcaVJVf7l/1PvPeN5Yxy
R2LMAmbldFH1vBz2MDso9TrBtqNUMFIwIAYDVR0RBBkwF4cEfwAAAYIPcHJvbXB0
cy5pbnZhbGlkMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFJH3uLsSMoJRW7LH
zSNUPm6JxUBPMAoGCCqGSM49BAMCA0cAMEQCIBzNmvtlcyRp61VzKVOpsNpLUpXg
CYnN7IGLhCBQ0jqUAiB3Qy+eS4p/qzp+AWbF14wvCps9iqlq9Ed7TMP7njeBQA==
-----END CERTIFICATE-----`;

/** Starts an HTTPS server on 127.0.0.1 until the end of the test. Its certificate is self-signed. */
export async function startHttpsServer(listener: RequestListener): Promise<{ readonly url: string }> {
  const server = createServer({ key: CERTIFICATE_KEY, cert: CERTIFICATE }, listener);
  const { port } = await listenUntilTestEnd(server);
  return { url: `https://127.0.0.1:${port}` };
}
