// Loaded into a peer whose service has a fixed address: whatever it fetches comes from the stand-in, and nothing else.
const plain = globalThis.fetch;
const target = process.env.BENCH_REDIRECT_TO;

globalThis.fetch = (address, options) => {
  const { pathname, search } = new URL(address);
  return plain(`${target}${pathname}${search}`, options);
};
