export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/\.$/, '');
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether what is sent to a URL leaves this machine and can be read on its way. */
export function isPlainHttp(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}

/** The options of undici's proxy agent. An empty text stands for no proxy. */
export type ProxySettings = {
  /** The proxy for http addresses. */
  readonly httpProxy: string;
  /** The proxy for https addresses. */
  readonly httpsProxy: string;
  /** The hosts that are reached without a proxy, with commas between. */
  readonly noProxy: string;
};

/** Reads the proxies from the usual variables. It sets all three options: undici reads missing ones from the process. */
export function readProxySettings(environment: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: normalizeProxyUrl(environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? ''),
    httpsProxy: normalizeProxyUrl(environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? ''),
    noProxy: environment['no_proxy'] ?? environment['NO_PROXY'] ?? '',
  };
}

/** `proxy:3128` is a usual way to write it, and not a URL. */
function normalizeProxyUrl(setting: string): string {
  const text = setting.trim();
  return text === '' || text.includes('://') ? text : `http://${text}`;
}
