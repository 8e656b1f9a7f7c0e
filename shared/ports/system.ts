/** The clock and the dice of the process. Neither decides anything that has to be the same in a replay. */
export interface System {
  /** ms since the epoch. */
  now(): number;
  /** A fresh id: 128 random bits, lower-case hex. */
  randomId(): string;
  /** A fresh version to start from: a whole number below 2^40 (P5). */
  randomVersion(): number;
  sleep(ms: number): Promise<void>;
}
