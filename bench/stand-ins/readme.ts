import type { Answer, Service } from './service.ts';

// This file implements the part of ReadMe's service that `rdme docs upload` (10.9.6) uses. The program reads the
// mappings of old ids once. Then it sends a GET for each page, followed by a PATCH if the page exists, or else by a
// POST.

const PAGE = /^\/v2\/branches\/stable\/guides(?:\/([^/]+))?$/;

export function makeReadMeService(): Service {
  const pages = new Map<string, unknown>();
  return {
    stock: () => pages.clear(),
    answer: (method, path, body, headers) => {
      if (headers['authorization'] === undefined) return makeResponse(401, { title: 'Unauthorized' });
      if (path === '/api/v1/migration') return makeResponse(200, { categories: {}, parentPages: {} });
      const match = PAGE.exec(path);
      if (match === null) return makeResponse(404, { title: 'Not found' });
      const page: { slug?: string } = body === '' ? {} : JSON.parse(body);
      const slug = match[1] ?? page.slug ?? '';
      const existing = pages.get(slug);
      if (method !== 'POST' && existing === undefined) return makeResponse(404, { title: 'Page not found' });
      const data = method === 'GET' ? existing : { ...page, slug };
      pages.set(slug, data);
      return makeResponse(method === 'POST' ? 201 : 200, { data });
    },
  };
}

function makeResponse(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) };
}
