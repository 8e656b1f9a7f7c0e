/** One of those that are measured against each other. */
export interface Contender {
  /** Names it to `peer-process.ts`. */
  readonly id: ContenderId;
  readonly what: string;
  readonly guarantee: string;
  /** Packages of its own have to be installed for it. */
  readonly isForeign: boolean;
  /** Batches behind the first that are not measured: until as many requests are made as others make in the first. */
  readonly warmUpBatches: number;
}

export type ContenderId =
  | 'powertools'
  | 'update'
  | 'restate-event'
  | 'restate-key'
  | 'holdfast-state'
  | 'holdfast-changelog'
  | 'holdfast-rows';

/** Of 26 requests each. */
const holdfastWarmUps = 40;

const holdfastGuarantee = 'once and in order for each key, however batches are cut or repeated';

export const contenders: readonly Contender[] = [
  {
    id: 'powertools',
    what: '(a) Powertools batch + idempotency, an UpdateItem for each event',
    guarantee:
      'a repeat is skipped for as long as its id is kept; twice where it dies between update and id; no order within a key',
    isForeign: true,
    warmUpBatches: 0,
  },
  {
    id: 'update',
    what: '(b) an UpdateItem for each event',
    guarantee: 'at least once; no order within a key',
    isForeign: false,
    warmUpBatches: 0,
  },
  {
    id: 'restate-event',
    what: '(c) Restate, a call for each event',
    guarantee:
      'once for as long as its idempotency key is kept; no order within a key where calls run at once',
    isForeign: true,
    warmUpBatches: 0,
  },
  {
    id: 'restate-key',
    what: '(c) Restate, a call for each key of a batch',
    guarantee:
      'in order for each key; once where a batch comes again as it was, twice where it is cut otherwise',
    isForeign: true,
    warmUpBatches: 0,
  },
  {
    id: 'holdfast-state',
    what: '(d) Holdfast, state alone',
    guarantee: 'none by itself: shows what the rest costs',
    isForeign: false,
    warmUpBatches: holdfastWarmUps,
  },
  {
    id: 'holdfast-changelog',
    what: '(d) Holdfast: state, changelog, progress',
    guarantee: `${holdfastGuarantee}; every batch is a recovery point`,
    isForeign: false,
    warmUpBatches: holdfastWarmUps,
  },
  {
    id: 'holdfast-rows',
    what: '(d) Holdfast: all that, and a row for each key',
    guarantee: `${holdfastGuarantee}, rows too; every batch is a recovery point`,
    isForeign: false,
    warmUpBatches: holdfastWarmUps,
  },
];
