export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/\.$/, '');
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Returns true if requests to the URL leave this machine unencrypted, so that others on the network can read them. */
export function isPlainHttp(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}

/** The options of undici's proxy agent. An empty string means no proxy. */
export type ProxySettings = {
  /** The proxy for http URLs. */
  readonly httpProxy: string;
  /** The proxy for https URLs. */
  readonly httpsProxy: string;
  /** A comma-separated list of the hosts that promptsync contacts without a proxy. */
  readonly noProxy: string;
};

/**
 * Reads the proxy settings from `http_proxy`, `https_proxy` and `no_proxy`, or from their uppercase variants. Always
 * sets all three options, because undici would otherwise read them from the environment of the process.
 */
export function readProxySettings(environment: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: normalizeProxyUrl(environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? ''),
    httpsProxy: normalizeProxyUrl(environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? ''),
    noProxy: environment['no_proxy'] ?? environment['NO_PROXY'] ?? '',
  };
}

/** Returns the passwords of the proxies. promptsync sends them to the proxies in a Basic credential. */
export function listProxyPasswords(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { httpProxy, httpsProxy } = readProxySettings(environment);
  return [httpProxy, httpsProxy].flatMap((proxy) => {
    const password = URL.parse(proxy)?.password ?? '';
    return password === '' ? [] : [password, decodePercent(password)];
  });
}

/** Decodes percent-encoded text. Returns the text unchanged if its encoding is invalid. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Adds `http://` to a proxy without a scheme. Many users write `proxy:3128`, which is not a usable URL. */
function normalizeProxyUrl(setting: string): string {
  const text = setting.trim();
  return text === '' || text.includes('://') ? text : `http://${text}`;
}
