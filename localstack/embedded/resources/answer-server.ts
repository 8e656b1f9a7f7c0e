import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the function of a custom resource PUTs to its ResponseURL. */
export interface CustomResourceAnswer {
  readonly Status?: unknown;
  readonly Reason?: unknown;
  readonly PhysicalResourceId?: unknown;
  readonly Data?: unknown;
}

/** CloudFormation's limit. */
export const ANSWER_BYTES_MAX = 4_096;

export interface AnswerServer {
  readonly url: string;
  /** The first answer. Rejects if it is no JSON object or too long. */
  readonly answer: Promise<CustomResourceAnswer>;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 for the answer to one request. */
export async function startAnswerServer(): Promise<AnswerServer> {
  const answer = Promise.withResolvers<CustomResourceAnswer>();
  // It may reject while nobody waits yet.
  answer.promise.catch(() => undefined);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(request.method === 'PUT' ? 200 : 405).end();
      if (request.method !== 'PUT') return;
      try {
        answer.resolve(parseAnswer(Buffer.concat(chunks)));
      } catch (error) {
        answer.reject(error);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer`,
    answer: answer.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function parseAnswer(body: Buffer): CustomResourceAnswer {
  if (body.byteLength > ANSWER_BYTES_MAX) {
    throw new Error(
      `its answer has ${body.byteLength} bytes, at most ${ANSWER_BYTES_MAX} are allowed`,
    );
  }
  const text = body.toString('utf8');
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  if (typeof answer !== 'object' || answer === null) {
    throw new Error(`its answer is "${text.slice(0, 100)}", expected a JSON object`);
  }
  return answer;
}
