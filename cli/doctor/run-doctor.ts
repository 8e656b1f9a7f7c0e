import { createDoctorClients, destroyClients } from './doctor-clients.ts';
import { dynamodbClinic } from './dynamodb/dynamodb-clinic.ts';
import type { Endpoints } from './endpoints.ts';
import { doctorServices, type Diagnosis, type DoctorService } from './finding.ts';
import { kinesisClinic } from './kinesis/kinesis-clinic.ts';
import { lambdaClinic } from './lambda/lambda-clinic.ts';
import { runClinic, type ClinicRun } from './run-clinic.ts';
import { s3Clinic } from './s3/s3-clinic.ts';
import { createTemporaryResources } from './temporary-resources.ts';
import { judge, type Verdict } from './verdict.ts';
import { workflowClinic } from './workflows/workflow-clinic.ts';

export interface DoctorReport {
  readonly verdict: Verdict;
  readonly diagnoses: readonly Diagnosis[];
  /** What could not be taken away again, with the reason. */
  readonly left: readonly string[];
}

export interface DoctorOptions extends Omit<ClinicRun, 'supplies'> {
  readonly endpoints: Endpoints;
  readonly services: readonly DoctorService[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly roleArn: string | undefined;
  readonly patience: number;
}

const clinics: Readonly<Record<DoctorService, (run: ClinicRun) => Promise<Diagnosis[]>>> = {
  dynamodb: (run) => runClinic(dynamodbClinic, run),
  s3: (run) => runClinic(s3Clinic, run),
  kinesis: (run) => runClinic(kinesisClinic, run),
  lambda: (run) => runClinic(lambdaClinic, run),
  workflows: (run) => runClinic(workflowClinic, run),
};

/** Stopped before its end; what was made is gone, but for what is left. */
export class DoctorStopped extends Error {
  readonly left: readonly string[];

  constructor(left: readonly string[], reason: unknown) {
    super('stopped', { cause: reason });
    this.left = left;
  }
}

/**
 * Probes some services and takes away what that needed, whatever happens.
 *
 * @throws DoctorStopped where the signal came before the end
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const { endpoints, services, env, roleArn, patience, signal, tell } = options;
  const clients = createDoctorClients(endpoints, env);
  const temporary = createTemporaryResources();
  const run: ClinicRun = { supplies: { clients, temporary, roleArn, patience }, signal, tell };
  const diagnoses: Diagnosis[] = [];
  let left: readonly string[];
  try {
    for (const service of doctorServices) {
      if (services.includes(service)) diagnoses.push(...(await clinics[service](run)));
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    left = await temporary.removeAll();
    destroyClients(clients);
  }
  if (signal.aborted) throw new DoctorStopped(left, signal.reason);
  return { verdict: judge(diagnoses), diagnoses, left };
}
