/** A service that runs on this machine for tests and the demo; it listens on 127.0.0.1 only. */
export interface Emulator {
  /** Base URL for the SDK client's `endpoint`, without a trailing slash. */
  readonly endpoint: string;
  /** Ends the service and waits until it is gone. A second call does nothing more. */
  stop(): Promise<void>;
}
