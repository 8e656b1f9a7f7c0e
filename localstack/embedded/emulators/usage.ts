/** What was asked of one table since the start or the last reset. */
export interface TableUsage {
  /** Requests by operation; a batch that names several tables counts for each. */
  readonly requests: Readonly<Record<string, number>>;
  /** Write request units as AWS bills them (1 KB, transactional twice), failed conditions included. */
  readonly writeUnits: number;
  /** Read request units as AWS bills them (4 KB, eventually consistent half). */
  readonly readUnits: number;
}

export interface UsageMeter {
  countRequest(operation: string, tables: Iterable<string>): void;
  addWriteUnits(table: string, units: number): void;
  addReadUnits(table: string, units: number): void;
  /** Table name → usage. */
  report(): Readonly<Record<string, TableUsage>>;
  reset(): void;
}

interface Meter {
  readonly requests: Map<string, number>;
  writeUnits: number;
  readUnits: number;
}

export function createUsageMeter(): UsageMeter {
  const meters = new Map<string, Meter>();
  const meterOf = (table: string): Meter => {
    const known = meters.get(table);
    if (known !== undefined) return known;
    const meter = { requests: new Map<string, number>(), writeUnits: 0, readUnits: 0 };
    meters.set(table, meter);
    return meter;
  };
  return {
    countRequest: (operation, tables) => {
      for (const table of new Set(tables)) {
        const { requests } = meterOf(table);
        requests.set(operation, (requests.get(operation) ?? 0) + 1);
      }
    },
    addWriteUnits: (table, units) => {
      meterOf(table).writeUnits += units;
    },
    addReadUnits: (table, units) => {
      meterOf(table).readUnits += units;
    },
    report: () =>
      Object.fromEntries(
        [...meters].map(([table, { requests, ...units }]) => [
          table,
          { requests: Object.fromEntries(requests), ...units },
        ]),
      ),
    reset: () => meters.clear(),
  };
}

/** Sums units by table in the form of a reply's `ConsumedCapacity` list. */
export function listCapacity(
  entries: Iterable<readonly [table: string, units: number]>,
  requested: unknown,
): object[] | undefined {
  if (!isCapacityWanted(requested)) return undefined;
  const sums = new Map<string, number>();
  for (const [table, units] of entries) sums.set(table, (sums.get(table) ?? 0) + units);
  return [...sums].map(([table, units]) => consumedCapacity(table, units, requested));
}

export function isCapacityWanted(requested: unknown): boolean {
  return requested === 'TOTAL' || requested === 'INDEXES';
}

export function consumedCapacity(table: string, units: number, requested: unknown): object {
  return {
    TableName: table,
    CapacityUnits: units,
    ...(requested === 'INDEXES' ? { Table: { CapacityUnits: units } } : {}),
  };
}
