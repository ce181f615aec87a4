import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export interface Page {
  /** 200, if it is undefined. */
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
}

/** Makes the page at a path; undefined where there is none. */
export type FindPage = (path: string) => (() => Promise<Page>) | undefined;

export function jsonPage(body: object, status = 200): Page {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

/** Answers GET and HEAD of a few pages, for servers of nothing else: 500 without a word where making one fails. */
export function createPageListener(find: FindPage): RequestListener {
  return (request, response) => void answer(find, request, response);
}

async function answer(find: FindPage, { url = '', method }: IncomingMessage, response: ServerResponse): Promise<void> {
  const make = find(url.split('?')[0]!);
  if (make === undefined) {
    response.writeHead(404).end();
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else {
    try {
      const { status = 200, contentType, body } = await make();
      response.writeHead(status, { 'content-type': contentType }).end(body);
    } catch {
      response.writeHead(500).end();
    }
  }
}
