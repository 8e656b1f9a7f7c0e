import { createHash } from 'node:crypto';

import { DynamoDbRefusal, validationError } from './dynamodb-errors.ts';

const tokenCharsMax = 36;
const tokenLifeMs = 10 * 60 * 1000;

interface TokenBearer {
  readonly ClientRequestToken?: string;
}

export interface TokenRequest {
  readonly token: string;
  /** Of the whole request. */
  readonly digest: string;
}

/** Client request tokens: they make a repeated transaction do nothing for ten minutes. */
export interface TokenBook {
  /** Must come before validation, which changes the body. `undefined` if it carries no token. */
  read(body: TokenBearer): TokenRequest | undefined;
  /** Throws `IdempotentParameterMismatchException` if the token came with another request. */
  isRepeated(request: TokenRequest | undefined): boolean;
  /** For a transaction that was committed. */
  remember(request: TokenRequest | undefined): void;
}

export function createTokenBook(nowMs: () => number): TokenBook {
  // In order of insertion, so the oldest come first.
  const known = new Map<string, { readonly digest: string; readonly atMs: number }>();
  const forgetOld = (): void => {
    for (const [token, { atMs }] of known) {
      if (nowMs() - atMs < tokenLifeMs) return;
      known.delete(token);
    }
  };
  return {
    read: (body) => {
      const token = body.ClientRequestToken;
      if (token === undefined) return undefined;
      if (token.length < 1 || token.length > tokenCharsMax) {
        throw validationError(
          `1 validation error detected: Value '${token}' at 'clientRequestToken' failed to satisfy ` +
            `constraint: Member must have length between 1 and ${tokenCharsMax}`,
        );
      }
      const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64');
      return { token, digest };
    },
    isRepeated: (request) => {
      if (request === undefined) return false;
      forgetOld();
      const entry = known.get(request.token);
      if (entry === undefined) return false;
      if (entry.digest === request.digest) return true;
      throw new DynamoDbRefusal(
        'IdempotentParameterMismatchException',
        'The request uses the same client token as a previous, but non-identical request.',
      );
    },
    remember: (request) => {
      if (request === undefined) return;
      known.set(request.token, { digest: request.digest, atMs: nowMs() });
    },
  };
}
