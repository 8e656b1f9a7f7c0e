import type { ConditionalWriter, TableAccess } from './conditional-write.ts';
import { createSingleWriter } from './single-writes.ts';
import { createStatementWriter } from './statement-batch.ts';

/** Writes to one table in the mode that its endpoint can do. */
export function createConditionalWriter(access: TableAccess): ConditionalWriter {
  const statements = createStatementWriter(access);
  const singles = createSingleWriter(access);
  const { writeMode = 'partiql-batch' } = access;

  return {
    async write(writes, options) {
      if (writes.length === 0) return [];
      const mode = typeof writeMode === 'string' ? writeMode : await writeMode();
      const writer = mode === 'partiql-batch' ? statements : singles;
      return writer.write(writes, options);
    },
  };
}
