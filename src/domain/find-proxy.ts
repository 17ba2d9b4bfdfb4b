import { BlockList, isIP } from 'node:net';
import { isLoopback, readProxySettings } from './network.ts';

/** The proxy for a URL. */
export type ProxyInUse = {
  /** The environment variable that contains the address of the proxy. */
  readonly variable: string;
  /** The host and port of the proxy, without credentials. Null if the address is not a URL. */
  readonly host: string | null;
};

/**
 * Returns the proxy through which promptsync sends requests to a URL, or null if there is none. Like undici's proxy
 * agent, uses the http proxy for https URLs if there is no https proxy.
 */
export function findProxy(url: URL, environment: Readonly<Record<string, string | undefined>>): ProxyInUse | null {
  const { httpProxy, httpsProxy, noProxy } = readProxySettings(environment);
  // Requests to a loopback address must not go through a proxy, because that would send the key to another machine.
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
    if (domain === '*' || isInRange(host, domain)) return true;
    return (includesDomain && host === domain) || host.endsWith(`.${domain}`);
  });
}

/**
 * Returns true if the host is an IP address in a CIDR range such as `10.0.0.0/8`. Never looks up a host name, because
 * the proxy of a company network may be the only machine that can.
 */
function isInRange(host: string, entry: string): boolean {
  const [, network = '', prefix = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  const length = Number(prefix);
  if (isIP(host) === 0 || isIP(network) === 0 || length > (isIP(network) === 4 ? 32 : 128)) return false;
  const range = new BlockList();
  range.addSubnet(network, length, getIpFamily(network));
  return range.check(host, getIpFamily(host));
}

function getIpFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Splits a `NO_PROXY` entry into host and port. An IPv6 address has brackets if a port follows it. */
function splitNoProxyEntry(entry: string): { readonly host: string; readonly port: string | undefined } {
  const [, host = entry, port] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? /^([^:]+)(?::(\d+))?$/.exec(entry) ?? [];
  return { host, port };
}
