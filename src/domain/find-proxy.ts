import { isLoopback, readProxySettings } from './network.ts';

/** The proxy for a URL. */
export type ProxyInUse = {
  /** The environment variable that contains the address of the proxy. */
  readonly variable: string;
  /** The host and port of the proxy, without credentials. Null if the address is not a URL. */
  readonly host: string | null;
};

/**
 * Returns the proxy through which promptsync sends requests to a URL, or null if there is none. Follows the rules of
 * undici's proxy agent: for https, it uses the http proxy if there is no https proxy.
 */
export function findProxy(url: URL, environment: Readonly<Record<string, string | undefined>>): ProxyInUse | null {
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

/** Splits a `NO_PROXY` entry into host and port. An IPv6 address has brackets if a port follows it. */
function splitNoProxyEntry(entry: string): { readonly host: string; readonly port: string | undefined } {
  const [, host = entry, port] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? /^([^:]+)(?::(\d+))?$/.exec(entry) ?? [];
  return { host, port };
}
