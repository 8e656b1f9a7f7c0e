import type { RetryPolicy } from '../../shared/adapters/system/backoff.ts';
import type { DoctorClients } from './doctor-clients.ts';
import type { DoctorService, Probe } from './finding.ts';
import type { TemporaryResources } from './temporary-resources.ts';

/** What probes are made with. */
export interface ClinicSupplies {
  readonly clients: DoctorClients;
  readonly temporary: TemporaryResources;
  /** The role of functions and state machines; undefined where there is none to give, as on AWS without a flag. */
  readonly roleArn: string | undefined;
  /** By how much all time limits grow: AWS itself takes minutes to begin and to end a mapping. */
  readonly patience: number;
}

/** The probes of a service, and the resources that they share. */
export interface Clinic<Bed> {
  readonly service: DoctorService;
  /** Makes what the probes work on. Where it throws none of them can be tried. */
  prepare(supplies: ClinicSupplies): Promise<Bed>;
  /** In this order: later ones may go on with what earlier ones have made. */
  readonly probes: readonly Probe<Bed>[];
}

/** A request is tried twice: what an endpoint cannot do is wanted soon. */
export const doctorRetryPolicy: RetryPolicy = {
  attemptsMax: 2,
  firstPauseMs: 100,
  pauseMsMax: 1_000,
};
