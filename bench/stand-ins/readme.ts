import type { Answer, Service } from './service.ts';

// As much of ReadMe's service as `rdme docs upload` (10.9.6) asks: the mappings of old ids once, then for each page a
// GET, and a PATCH where the page is there or a POST where it is not.

const PAGE = /^\/v2\/branches\/stable\/guides(?:\/([^/]+))?$/;

export function readMeService(): Service {
  const pages = new Map<string, unknown>();
  return {
    stock: ({ empty = false }) => {
      if (empty) pages.clear();
    },
    answer: (method, path, body, headers) => {
      if (headers['authorization'] === undefined) return json(401, { title: 'Unauthorized' });
      if (path === '/api/v1/migration') return json(200, { categories: {}, parentPages: {} });
      const match = PAGE.exec(path);
      if (match === null) return json(404, { title: 'Not found' });
      const sent: { slug?: string } = body === '' ? {} : JSON.parse(body);
      const slug = match[1] ?? sent.slug ?? '';
      const known = pages.get(slug);
      if (method !== 'POST' && known === undefined) return json(404, { title: 'Page not found' });
      const data = method === 'GET' ? known : { ...sent, slug };
      pages.set(slug, data);
      return json(method === 'POST' ? 201 : 200, { data });
    },
  };
}

function json(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) };
}
