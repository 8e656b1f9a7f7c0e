import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';

/** What figures were measured on. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
}

export function describeMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
  };
}

/**
 * The most memory that this process has had resident, bytes. On Linux `maxRSS` begins with what the parent had when it
 * started the process; the kernel's peak of this program's own memory does not.
 */
export function peakRssBytes(): number {
  const peak = process.platform === 'linux' ? readPeakKilobytes() : undefined;
  return (peak ?? process.resourceUsage().maxRSS) * 1024;
}

function readPeakKilobytes(): number | undefined {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes);
}
