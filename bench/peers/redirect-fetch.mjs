// Preloaded into a peer that has a fixed service address. Redirects every `fetch` to the stand-in.
const plain = globalThis.fetch;
const target = process.env.BENCH_REDIRECT_TO;

globalThis.fetch = (address, options) => {
  const { pathname, search } = new URL(address);
  return plain(`${target}${pathname}${search}`, options);
};
