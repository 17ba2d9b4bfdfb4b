import { BlockList, isIP } from 'node:net';

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
  readonly httpProxy: string;
  readonly httpsProxy: string;
  /** Always empty. undici does not support CIDR ranges in `NO_PROXY`, so `findProxy` applies that setting. */
  readonly noProxy: '';
};

/** Always sets all three options, because undici would otherwise read them from the environment of the process. */
export function readProxySettings(environment: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: normalizeProxyUrl(environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? ''),
    httpsProxy: normalizeProxyUrl(environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? ''),
    noProxy: '',
  };
}

/** Returns the proxy passwords, which promptsync sends to the proxies in Basic credentials. */
export function listProxyPasswords(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { httpProxy, httpsProxy } = readProxySettings(environment);
  return [httpProxy, httpsProxy].flatMap((proxy) => {
    const password = URL.parse(proxy)?.password ?? '';
    return password === '' ? [] : [password, decodePercent(password)];
  });
}

/** Returns the text unchanged if its encoding is invalid. */
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

export type ProxyInUse = {
  /** The environment variable that contains the address of the proxy. */
  readonly variable: string;
  /** The host and port of the proxy, without credentials. Null if the address is not a URL. */
  readonly host: string | null;
};

/** Like undici's proxy agent, uses the HTTP proxy for HTTPS URLs if there is no HTTPS proxy. */
export function findProxy(url: URL, environment: Readonly<Record<string, string | undefined>>): ProxyInUse | null {
  const { httpProxy, httpsProxy } = readProxySettings(environment);
  const noProxy = environment['no_proxy'] ?? environment['NO_PROXY'] ?? '';
  // Requests to a loopback address must not go through a proxy, because they would send the key to another machine.
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

/** Matches CIDR ranges such as `10.0.0.0/8`. Resolves no host names, because only the proxy may be able to. */
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

/** An IPv6 address has brackets if a port follows it. */
function splitNoProxyEntry(entry: string): { readonly host: string; readonly port: string | undefined } {
  const [, host = entry, port] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? /^([^:]+)(?::(\d+))?$/.exec(entry) ?? [];
  return { host, port };
}

/** Parentheses and quotation marks could end a Markdown link. */
const UNSAFE_IN_URL = /[^\w\-.~:/?#[\]@!$&*+,;=%]/g;

/** Percent-encodes each character that could end a link or a table cell. */
export function renderUrl({ href }: URL): string {
  return href.replaceAll(UNSAFE_IN_URL, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns null if the URL is not HTTP or HTTPS. */
export function renderWebUrl(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? renderUrl(url) : null;
}
