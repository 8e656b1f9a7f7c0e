/** Exit codes by convention: 128 + the signal's number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Makes Ctrl-C and SIGTERM stop something and then end this process with the conventional code. A second signal while it
 * stops does not wait any longer; the children end by themselves when this process does. Returns a function that takes
 * the handlers away again.
 */
export function stopOnSignals(stoppable: { stop(): Promise<void> }): () => void {
  let isStopping = false;
  const handlers = Object.entries(exitCodes).map(([signal, exitCode]) => {
    const handler = (): void => {
      if (isStopping) process.exit(exitCode);
      isStopping = true;
      stoppable
        .stop()
        .catch((error: unknown) => console.error('stopping failed:', error))
        .finally(() => process.exit(exitCode));
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}
