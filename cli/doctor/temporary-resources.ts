import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Begins all names, so that what is left behind can be found. */
export const temporaryPrefix = 'holdfast-doctor-';

interface Removal {
  readonly what: string;
  readonly remove: () => Promise<unknown>;
}

/**
 * What the probes have made and has to go again. A removal is put down before the thing is made, so that it goes even where the
 * answer to its creation was lost.
 */
export interface TemporaryResources {
  /** A name that nothing else has, of at most 63 characters a-z, 0-9 and `-`. */
  name(what: string): string;
  /**
   * @param what kind and name, for people
   * @param remove takes it away; tried a few times, since a thing that is being made cannot always be removed. That there is
   *   no such thing is fine
   * @returns takes the removal back, for what was refused and so never made
   */
  put(what: string, remove: () => Promise<unknown>): () => void;
  /** Removes everything, the youngest first. Twice is once. @returns what could not be removed, with the reason */
  removeAll(): Promise<string[]>;
}

export interface RemovalPatience {
  readonly attemptsMax: number;
  readonly pauseMs: number;
}

const defaultPatience: RemovalPatience = { attemptsMax: 20, pauseMs: 500 };

export function createTemporaryResources(
  patience: RemovalPatience = defaultPatience,
): TemporaryResources {
  const id = randomBytes(4).toString('hex');
  const removals: Removal[] = [];
  return {
    name: (what) => `${temporaryPrefix}${id}-${what}`,
    put(what, remove) {
      const removal = { what, remove };
      removals.push(removal);
      return () => {
        const at = removals.indexOf(removal);
        if (at >= 0) removals.splice(at, 1);
      };
    },
    async removeAll() {
      const left: string[] = [];
      for (;;) {
        const removal = removals.pop();
        if (removal === undefined) return left;
        const reason = await removeOne(removal, patience);
        if (reason !== undefined) left.push(`${removal.what}: ${reason}`);
      }
    },
  };
}

/** @returns why it could not be removed */
async function removeOne(
  { remove }: Removal,
  { attemptsMax, pauseMs }: RemovalPatience,
): Promise<string | undefined> {
  for (let tried = 1; ; tried += 1) {
    try {
      await remove();
      return undefined;
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (isAbsent(error)) return undefined;
      if (tried >= attemptsMax || !isPassing(error)) return `${error.name}: ${error.message}`;
    }
    await sleep(pauseMs);
  }
}

function isAbsent({ name }: Error): boolean {
  return /^(ResourceNotFound|NoSuchBucket|NotFound|StateMachineDoesNotExist)/.test(name);
}

/** Something is still being made or changed, or too much was asked at once. Nobody listens: that is for good. */
function isPassing(error: Error): boolean {
  const { $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  return (
    /^(ResourceInUse|ResourceConflict|LimitExceeded|Throttling|TooManyRequests|BucketNotEmpty|OperationAborted)/.test(
      error.name,
    ) || ($metadata?.httpStatusCode ?? 0) >= 500
  );
}
