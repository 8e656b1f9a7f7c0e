import type { Clinic, ClinicSupplies } from './clinic.ts';
import type { Diagnosis, DoctorService, Finding, Probe } from './finding.ts';
import { describeFailure, judgeFailure, TimeLimitError } from './judge-failure.ts';

const timeLimitMs = 30_000;

/** Making a function or a stream may take its time. */
const preparationLimitMs = 120_000;

export interface ClinicRun {
  readonly supplies: ClinicSupplies;
  /** Ends the run before the next probe, and the waiting for the one that is under way. */
  readonly signal: AbortSignal;
  /** Called before each probe. */
  readonly tell: (service: DoctorService, capability: string) => void;
}

/** Asks the questions of one clinic, one after the other. Every probe has a row, whatever fails before it. */
export async function runClinic<Bed>(clinic: Clinic<Bed>, run: ClinicRun): Promise<Diagnosis[]> {
  const { service, probes } = clinic;
  const diagnose = ({ capability, need }: Probe<Bed>, finding: Finding): Diagnosis => ({
    ...{ service, capability, need, finding },
  });
  const { patience } = run.supplies;
  run.signal.throwIfAborted();
  run.tell(service, 'what the probes need');
  let bed: Bed;
  try {
    bed = await within(preparationLimitMs * patience, run.signal, clinic.prepare(run.supplies));
  } catch (thrown) {
    run.signal.throwIfAborted();
    const why = describeFailure(thrown);
    return probes.map((probe) => diagnose(probe, { result: 'untried', why }));
  }
  const diagnoses: Diagnosis[] = [];
  for (const probe of probes) {
    run.signal.throwIfAborted();
    run.tell(service, probe.capability);
    diagnoses.push(diagnose(probe, await ask(probe, bed, run)));
  }
  return diagnoses;
}

async function ask<Bed>(
  probe: Probe<Bed>,
  bed: Bed,
  { signal, supplies }: ClinicRun,
): Promise<Finding> {
  const limitMs = (probe.timeLimitMs ?? timeLimitMs) * supplies.patience;
  try {
    return await within(limitMs, signal, probe.run(bed));
  } catch (thrown) {
    signal.throwIfAborted();
    return judgeFailure(thrown);
  }
}

/** @throws TimeLimitError after `limitMs`, and the signal's reason when it comes; what was waited for is left alone */
async function within<Result>(
  limitMs: number,
  signal: AbortSignal,
  working: Promise<Result>,
): Promise<Result> {
  const stop = Promise.withResolvers<never>();
  const onAbort = (): void => stop.reject(signal.reason as Error);
  const timer = setTimeout(
    () => stop.reject(new TimeLimitError(`no answer within ${limitMs / 1_000} s`)),
    limitMs,
  );
  signal.addEventListener('abort', onAbort);
  // Whichever comes second must not be an error that nobody hears of.
  working.catch(() => undefined);
  try {
    return await Promise.race([working, stop.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
