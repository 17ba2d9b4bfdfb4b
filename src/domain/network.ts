export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/\.$/, '');
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether what is sent to a URL leaves this machine and can be read on its way. */
export function isPlainHttp(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}

/**
 * Which proxies to go through, by the usual variables; an empty text stands for none. All three are given, be they empty:
 * undici would read the process's own otherwise.
 */
export function proxiesOf(environment: Readonly<Record<string, string | undefined>>) {
  return {
    httpProxy: proxyUrl(environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? ''),
    httpsProxy: proxyUrl(environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? ''),
    noProxy: environment['no_proxy'] ?? environment['NO_PROXY'] ?? '',
  };
}

/** `proxy:3128` is a usual way to write it, and not a URL. */
function proxyUrl(setting: string): string {
  const text = setting.trim();
  return text === '' || text.includes('://') ? text : `http://${text}`;
}
