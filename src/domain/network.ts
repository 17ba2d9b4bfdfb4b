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
export function readProxySettings(environment: Variables): ProxySettings {
  return {
    httpProxy: normalizeProxyUrl(environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? ''),
    httpsProxy: normalizeProxyUrl(environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? ''),
    noProxy: environment['no_proxy'] ?? environment['NO_PROXY'] ?? '',
  };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The proxy for a URL. */
export type ProxyInUse = {
  /** The environment variable that contains the address of the proxy. */
  readonly variable: string;
  /** The host and the port of the proxy, without a user name and a password. Null if the address is not a URL. */
  readonly host: string | null;
};

/**
 * Returns the proxy through which promptsync sends requests to a URL, or null if there is none. Follows the rules of
 * undici's proxy agent: for https, it uses the http proxy if there is no https proxy.
 */
export function findProxy(url: URL, environment: Variables): ProxyInUse | null {
  const { httpProxy, httpsProxy, noProxy } = readProxySettings(environment);
  if (isLoopback(url) || isExempt(url, noProxy)) return null;
  const usesHttpsProxy = url.protocol === 'https:' && httpsProxy !== '';
  const address = usesHttpsProxy ? httpsProxy : httpProxy;
  if (address === '') return null;
  const name = usesHttpsProxy ? 'https_proxy' : 'http_proxy';
  const variable = environment[name] === undefined ? name.toUpperCase() : name;
  return { variable, host: URL.parse(address)?.host || null };
}

/** Returns true if an entry of `NO_PROXY` matches the host, and the port if the entry has one. */
function isExempt({ hostname, protocol, port }: URL, noProxy: string): boolean {
  const defaultPort = protocol === 'https:' ? '443' : '80';
  const host = hostname
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  return noProxy.split(/[,\s]+/).some((entry) => {
    const exempted = splitNoProxyEntry(entry);
    if (exempted.host === '' || ![undefined, port || defaultPort].includes(exempted.port)) return false;
    const domain = exempted.host
      .replace(/^\*?\./, '')
      .replace(/\.$/, '')
      .toLowerCase();
    const includesDomain = !exempted.host.startsWith('*.');
    return domain === '*' || (includesDomain && host === domain) || host.endsWith(`.${domain}`);
  });
}

/** Splits an entry of `NO_PROXY` into a host and a port. An IPv6 address has brackets if a port follows it. */
function splitNoProxyEntry(entry: string): { readonly host: string; readonly port: string | undefined } {
  const [, host = entry, port] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? /^([^:]+)(?::(\d+))?$/.exec(entry) ?? [];
  return { host, port };
}

/** Adds `http://` to a proxy without a scheme. Many users write `proxy:3128`, which is not a usable URL. */
function normalizeProxyUrl(setting: string): string {
  const text = setting.trim();
  return text === '' || text.includes('://') ? text : `http://${text}`;
}
